#include "report/tensorboard.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/log.hpp"
#include "base/unix_time.hpp"
#include "base/write_all.hpp"
#include "job/owner.hpp"

namespace spillway {
namespace {

// Appends the lowest bytes of `value`, the lowest one first.
void append_bytes(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i));
}

std::uint32_t crc32c(std::string_view text) {
  constexpr auto table = [] {
    std::array<std::uint32_t, 256> all{};
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      all[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        all[i] = (all[i] >> 1) ^ ((all[i] & 1) != 0 ? 0x82F63B78 : 0);
    }
    return all;
  }();
  std::uint32_t crc = ~std::uint32_t{0};
  for (char const byte : text)
    crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

// A CRC over data that hold their own CRC finds errors badly, so the format changes the ones that
// it stores.
std::uint32_t masked(std::uint32_t crc) {
  return std::rotr(crc, 15) + 0xA282EAD8;
}

// Fields of a message of Protocol Buffers are a tag, which has number and type, and a value.
enum WireType : std::uint8_t { varint = 0, eight_bytes = 1, text = 2, four_bytes = 5 };

void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

void append_tag(std::string& to, unsigned number, WireType type) {
  append_varint(to, number << 3 | type);
}

void append_text(std::string& to, unsigned number, std::string_view value) {
  append_tag(to, number, text);
  append_varint(to, value.size());
  to += value;
}

std::string event(double time_s, std::int64_t step) {
  std::string result;
  append_tag(result, 1, eight_bytes);
  append_bytes(result, std::bit_cast<std::uint64_t>(time_s), 8);
  if (step == 0) return result;  // as what is left out means
  append_tag(result, 2, varint);
  append_varint(result, static_cast<std::uint64_t>(step));
  return result;
}

void append_scalar(std::string& summary, std::string_view tag, std::optional<double> number) {
  if (!number) return;
  std::string value;
  append_text(value, 1, tag);
  append_tag(value, 2, four_bytes);
  append_bytes(value, std::bit_cast<std::uint32_t>(static_cast<float>(*number)), 4);
  append_text(summary, 1, value);
}

std::string file_name() {
  auto const self = this_process();
  return fmt::format("events.out.tfevents.{:010.0f}.{}.{}.0", std::floor(unix_time_s()), self.host,
                     self.pid);
}

}  // namespace

std::string event_record(std::string_view event) {
  std::string record;
  append_bytes(record, event.size(), 8);
  append_bytes(record, masked(crc32c(record)), 4);
  record += event;
  append_bytes(record, masked(crc32c(event)), 4);
  return record;
}

std::string first_event(double time_s) {
  auto result = event(time_s, 0);
  append_text(result, 3, "brain.Event:2");
  return result;
}

std::string start_event(std::int64_t step, double time_s) {
  constexpr std::uint64_t start = 1;  // SessionLog::START
  std::string session;
  append_tag(session, 1, varint);
  append_varint(session, start);
  auto result = event(time_s, step);
  append_text(result, 7, session);
  return result;
}

std::string scalars_event(StepMetrics const& row, double time_s) {
  std::string summary;
  append_scalar(summary, "loss", row.loss.mean());
  if (row.valid) append_scalar(summary, "valid_loss", row.valid->mean());
  append_scalar(summary, "grad_norm", row.grad_norm);
  append_scalar(summary, "lr", row.lr);
  append_scalar(summary, "step_s", row.step_s);
  append_scalar(summary, "tokens_per_s", row.tokens_per_s);
  append_scalar(summary, "tokens", static_cast<double>(row.tokens));
  append_scalar(summary, "mfu", row.mfu);
  append_scalar(summary, "matmul_share", row.matmul_share);
  append_scalar(summary, "stall_s", row.lanes.use[index(Lane::compute)].stall_s);
  for (Tier const tier : kTiersInOrder)
    append_scalar(summary, fmt::format("peak_bytes/{}", name(tier)),
                  static_cast<double>(row.peak_bytes[index(tier)]));
  auto result = event(time_s, row.step);
  append_text(result, 5, summary);
  return result;
}

EventFile::EventFile(std::filesystem::path const& run_dir)
    : m_path(run_dir / file_name()),
      m_file(::open(m_path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kFileMode)) {
  if (!m_file)
    throw Error(Status::bad_input,
                fmt::format("{}: cannot be written: {}", m_path.string(), error_text(errno)));
  write(first_event(unix_time_s()));
}

void EventFile::start(std::int64_t step) {
  write(start_event(step, unix_time_s()));
}

void EventFile::append(StepMetrics const& row) {
  write(scalars_event(row, unix_time_s()));
}

// A record that is written in part would end what TensorBoard reads, so none follows it.
void EventFile::write(std::string_view event) {
  if (!m_file) return;
  int const error = write_all(m_file.get(), event_record(event));
  if (error == 0) return;
  log_warning("{} cannot be written ({}); training goes on without it", m_path.string(),
              error_text(error));
  m_file = {};
}

}  // namespace spillway
