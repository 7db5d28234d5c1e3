#include "app/failed_job.hpp"

#include <cmath>
#include <ctime>
#include <filesystem>

#include "app/failure.hpp"
#include "base/log.hpp"
#include "base/standard_streams.hpp"
#include "report/warning_lines.hpp"

namespace spillway {
namespace {

constexpr char const* kMetrics = "metrics.jsonl";

void write_end(MetricsFile& metrics, std::int64_t step, Failure const& failure) {
  RunEvent end{"end", step};
  if (!failure.text.empty()) end.more.emplace_back("why", failure.text);
  end.exit = failure.exit;
  metrics.append(to_json(end, std::time(nullptr)));
}

// Returns whether metrics.jsonl has the rows of the job's own run, or none.
bool is_of_this_run(std::filesystem::path const& metrics, RunEvent const& began) {
  std::error_code error;
  auto const bytes = std::filesystem::file_size(metrics, error);
  return !error && (bytes == 0 || began.event == "resume");
}

}  // namespace

void tell_failure(std::exception const& error, SummaryParts parts, RunDir const& dir) noexcept {
  try {
    auto const failure = failure_of(error);
    parts.exit = failure.exit;
    auto summary = summarize_alone(parts);
    summary.why = failure.text;
    say(warning_lines(summary.warnings));
    if (!dir.is_ours_now()) return;
    MetricsFile metrics(dir.path() / kMetrics);
    write_end(metrics, parts.trainer.state().step, failure);
    dir.write("summary.json", to_json(summary) + "\n");
  } catch (std::exception const& trouble) {  // what has ended the job is told in any case
    log_warning("summary.json: {}", trouble.what());
  }
}

void tell_failed_start(std::exception const& error, RunEvent const& began,
                       SteadyClock::time_point begin, RunDir const& dir) noexcept {
  try {
    auto const failure = failure_of(error);
    auto const path = dir.path() / kMetrics;
    bool const is_wrong = failure.exit == static_cast<int>(Status::bad_input);
    if (is_wrong || !is_of_this_run(path, began) || !dir.is_ours_now()) return;
    MetricsFile metrics(path);
    metrics.append(to_json(began, std::time(nullptr) - std::llround(seconds_since(begin))));
    write_end(metrics, began.step, failure);
  } catch (std::exception const& trouble) {
    log_warning("{}: {}", kMetrics, trouble.what());
  }
}

}  // namespace spillway
