#include "report/trace_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/log.hpp"

namespace spillway {
namespace {

constexpr std::size_t kMostWaitingBytes = 256 << 10;

[[noreturn]] void refuse(std::filesystem::path const& path, std::string const& why) {
  throw Error(Status::bad_input, fmt::format("{}: {} (run.trace)", path.string(), why));
}

}  // namespace

TraceFile::TraceFile(std::filesystem::path path) : m_path(std::move(path)) {
  open();
}

void TraceFile::open() {
  FileDescriptor file(::open(m_path.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, kFileMode));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0)
    refuse(m_path, "cannot be written: " + error_text(errno));
  if (!S_ISREG(info.st_mode)) refuse(m_path, "is not a regular file");
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  auto const read = read_fully(file.get(), std::as_writable_bytes(std::span(text)), 0);
  if (read.error != 0) refuse(m_path, "cannot be read: " + error_text(read.error));
  m_end_bytes = take_in(text);
  m_file = std::move(file);
}

// Returns where the last whole event ends. A killed job may have left a part of one behind it.
std::int64_t TraceFile::take_in(std::string_view text) {
  if (text.size() < kTraceBegin.size() && kTraceBegin.starts_with(text)) return 0;
  if (!text.starts_with(kTraceBegin)) refuse(m_path, "is no trace of a run; move it away");
  std::int64_t end_bytes = 0;
  for (auto at = kTraceBegin.size(); at < text.size();) {
    auto const end = std::min(text.find('\n', at), text.size());
    auto event = text.substr(at, end - at);
    if (event.ends_with(',')) event.remove_suffix(1);
    if (!m_reach.take_in(event)) break;
    end_bytes = static_cast<std::int64_t>(at + event.size());
    at = end + 1;
  }
  return end_bytes;
}

void TraceFile::begin_step() {
  m_failed = false;
  try {
    if (!is_named(m_file, m_path)) open();
  } catch (Error const& error) {
    m_failed = true;
    log_warning("{}; training goes on without this step in it", error.what());
  }
}

void TraceFile::append(std::string const& event) {
  bool const is_first = m_end_bytes == 0 && m_waiting.empty();
  m_waiting += is_first ? kTraceBegin : kTraceComma;
  m_waiting += event;
  if (m_waiting.size() >= kMostWaitingBytes) flush();
}

// Without its end the list can be read, too, so it does not matter whether that can be written.
void TraceFile::end_step() {
  flush();
  write_fully(m_file.get(), std::as_bytes(std::span(kTraceEnd)), m_end_bytes);
  auto const size = m_end_bytes == 0 ? 0 : m_end_bytes + std::ssize(kTraceEnd);
  static_cast<void>(::ftruncate(m_file.get(), static_cast<off_t>(size)));
}

void TraceFile::flush() {
  auto const text = std::exchange(m_waiting, {});
  if (m_failed) return;
  auto const written = write_fully(m_file.get(), std::as_bytes(std::span(text)), m_end_bytes);
  m_failed = written.error != 0;
  if (m_failed) {
    log_warning("{}: cannot be written: {}; training goes on without the rest of this step in it",
                m_path.string(), error_text(written.error));
    return;
  }
  m_end_bytes += std::ssize(text);
}

}  // namespace spillway
