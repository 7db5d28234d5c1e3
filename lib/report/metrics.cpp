#include "report/metrics.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <span>
#include <sstream>

#include "base/compact_json.hpp"
#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/log.hpp"
#include "report/lane_json.hpp"
#include "report/last_line.hpp"
#include "report/or_null.hpp"
#include "report/tier_json.hpp"
#include "report/utc_text.hpp"

namespace spillway {

namespace {

// open_there returns this errno for a file that is not a regular one.
constexpr int kNotRegular = EINVAL;

// Returns the mean loss, or NaN if there was no target. The JSON library writes NaN as null.
double mean_or_nan(LossSums const& sums) {
  return sums.mean().value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

std::string hex(double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%a", value);
  return text.data();
}

std::string to_json(StepMetrics const& row) {
  auto const& lanes = row.lanes.use;
  auto const loss = mean_or_nan(row.loss);
  nlohmann::ordered_json json = {
      {"step", row.step},
      {"tokens", row.tokens},
      {"targets", row.loss.targets()},
      {"loss", loss},
      {"grad_norm", row.grad_norm},
      {"lr", row.lr},
      {"step_s", row.step_s},
      {"tokens_per_s", row.tokens_per_s},
      {"mfu", or_null(row.mfu)},
      {"matmul_share", or_null(row.matmul_share)},
      {"matmul_gflops", row.matmul_gflops},
      {"loss_hex", hex(loss)},
      {"grad_norm_hex", hex(row.grad_norm)},
      {"spilled_bytes", lanes[index(Lane::nvme_write)].bytes},
      {"reloaded_bytes", lanes[index(Lane::nvme_read)].bytes},
      {"stall_s", lanes[index(Lane::compute)].stall_s},
      {"stall_by", stalls_json(row.lanes)},
      {"lanes", lanes_json(row.lanes)},
      {"peak_bytes", tiers_json(row.peak_bytes)},
  };
  if (row.slow_rank) {
    json["slow_rank"] = row.slow_rank->rank;
    json["slow_rank_wait_s"] = row.slow_rank->wait_s;
  }
  if (row.valid) {
    auto const valid = mean_or_nan(*row.valid);
    json["valid_loss"] = valid;
    json["valid_loss_hex"] = hex(valid);
    json["valid_targets"] = row.valid->targets();
  }
  return json.dump();
}

std::string to_json(RunEvent const& row, std::time_t time) {
  nlohmann::ordered_json json = {
      {"event", row.event}, {"step", row.step}, {"time", utc_text(time)}};
  if (row.rank) json["rank"] = *row.rank;
  for (auto const& [name, text] : row.more) json[name] = text;
  if (row.predicted_step_s) json["predicted_step_s"] = *row.predicted_step_s;
  if (row.exit) json["exit"] = *row.exit;
  if (!row.changed.empty()) json["changed"] = row.changed;
  return compact_json(json);
}

MetricsFile::MetricsFile(std::filesystem::path path) : m_path(std::move(path)) {
  int const error = open_there();
  if (error == 0) return;
  auto const why =
      error == kNotRegular ? "is not a regular file" : "cannot be written: " + error_text(error);
  throw Error(Status::bad_input, fmt::format("{}: {}", m_path.string(), why));
}

// Opens or makes the file at m_path, and removes a last row that is cut short. Returns an errno, or
// 0.
int MetricsFile::open_there() {
  constexpr int flags = O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC;
  FileDescriptor file(::open(m_path.c_str(), flags, kFileMode));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return errno;
  if (!S_ISREG(info.st_mode)) return kNotRegular;
  auto const whole = end_of_last_line(file.get(), info.st_size);
  m_may_end_in_part = !whole;
  if (!whole) {
    log_warning("{}: its last row cannot be read; the next one begins a line of its own",
                m_path.string());
  } else if (*whole != info.st_size) {
    log_info("{}: its last row was cut short, and is removed", m_path.string());
    m_may_end_in_part = ::ftruncate(file.get(), *whole) != 0;
  }
  m_file = std::move(file);
  return 0;
}

MetricsFile::~MetricsFile() {
  if (m_lost > 0) log_warning("metrics.jsonl: the last {} rows are missing", m_lost);
}

void MetricsFile::append(std::string const& row) {
  int error = reopen_if_gone();
  if (error == 0) error = append_line((m_may_end_in_part ? "\n" : "") + row + "\n");
  if (error != 0) {
    if (m_lost++ == 0)
      log_warning(
          "metrics.jsonl cannot be written ({}); training goes on without it, and each row "
          "is tried",
          error_text(error));
    return;
  }
  if (m_lost > 0) log_warning("metrics.jsonl can be written again; {} rows are missing", m_lost);
  m_lost = 0;
}

std::int64_t MetricsFile::furthest_step() const {
  constexpr std::int64_t most_bytes = 1 << 18;
  struct stat info {};
  if (::fstat(m_file.get(), &info) != 0) return 0;
  std::string text(static_cast<std::size_t>(std::min<std::int64_t>(info.st_size, most_bytes)), ' ');
  auto const bytes = std::as_writable_bytes(std::span(text));
  if (read_fully(m_file.get(), bytes, info.st_size - std::ssize(text)).error != 0) return 0;
  std::int64_t furthest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto const row = nlohmann::json::parse(line, nullptr, false);  // the first may lack its begin
    if (row.is_object() && row.contains("step") && row["step"].is_number_integer())
      furthest = std::max(furthest, row["step"].get<std::int64_t>());
  }
  return furthest;
}

// Opens the file at m_path again if it is no longer the open one. Returns an errno, or 0.
int MetricsFile::reopen_if_gone() {
  if (is_named(m_file, m_path)) return 0;
  int const error = open_there();
  if (error == 0)
    log_warning("metrics.jsonl was removed or replaced; the rows from here on are in a new one");
  return error;
}

// Writes the whole line or, as far as possible, nothing. Returns an errno, or 0.
int MetricsFile::append_line(std::string_view line) {
  struct stat before {};
  if (::fstat(m_file.get(), &before) != 0) return errno;
  bool cut = false;
  while (!line.empty()) {
    auto const written = ::write(m_file.get(), line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      int const error = errno;
      if (cut)
        m_may_end_in_part = ::ftruncate(m_file.get(), before.st_size) != 0 || m_may_end_in_part;
      return error;
    }
    line.remove_prefix(static_cast<std::size_t>(written));
    cut = true;
  }
  m_may_end_in_part = false;
  return 0;
}

}  // namespace spillway
