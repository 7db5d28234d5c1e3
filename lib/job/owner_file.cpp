#include "job/owner_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>

#include "base/cannot_start.hpp"
#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "job/owner.hpp"
#include "job/owner_watch.hpp"
#include "job/refuse_run_dir.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

std::string in_words(std::optional<Owner> const& owner) {
  return owner ? fmt::format("pid {} on {}", owner->pid, owner->host) : "one that it does not name";
}

bool means_no_file_of_ours(int error) {
  return error == ELOOP || error == ENXIO || error == EISDIR || error == ESPIPE;
}

// Opens the file anew each time, since only that makes a network file system ask its server. A
// link, a pipe or the like cannot be an owner's file, so it counts as an empty text.
Look look_at(fs::path const& path) {
  FileDescriptor const file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return {.is_there = false};
  std::array<char, 4096> text{};
  auto const read = file ? read_fully(file.get(), std::as_writable_bytes(std::span(text)), 0)
                         : TransferResult{.error = errno};
  if (read.error != 0) return {.error = means_no_file_of_ours(read.error) ? 0 : read.error};
  return {.text = std::string(text.data(), static_cast<std::size_t>(read.done_bytes))};
}

void nap(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// Watches the file until it changes or disappears, or until the time to watch is over.
Verdict watch(fs::path const& path, Look const& first, OwnerTimes const& times) {
  log_info("{}: says that {} runs here; watched for {:.0f} s", path.string(),
           in_words(parse_owner(first.text)), times.watch_s);
  OwnerWatch watched(first, times.watch_s);
  auto const begin = SteadyClock::now();
  for (;;) {
    nap(times.renew_s / 4);
    auto const now = look_at(path);
    auto const verdict = watched.after(now, seconds_since(begin));
    if (verdict == Verdict::unknown)
      refuse_run_dir(path, fmt::format("cannot be read: {}; another job may be running here: if "
                                       "none is, remove this file",
                                       error_text(now.error)));
    if (verdict) return *verdict;
  }
}

Verdict judge(fs::path const& path, Look const& first, OwnerTimes const& times) {
  auto const owner = parse_owner(first.text);
  if (auto const running = owner ? runs(*owner) : std::nullopt)
    return *running ? Verdict::lives : Verdict::gone;
  return watch(path, first, times);
}

}  // namespace

// This delegates to another constructor, so that if it throws, the destructor removes the file.
OwnerFile::OwnerFile(fs::path path, OwnerTimes times) : OwnerFile() {
  m_path = std::move(path);
  m_times = times;
  bool took_over = false;
  while (!(m_file = FileDescriptor(::open(
               m_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode)))) {
    if (errno != EEXIST) refuse_run_dir(m_path, "cannot be created: " + error_text(errno));
    auto const look = look_at(m_path);
    if (!look.is_there) continue;
    auto const owner = in_words(parse_owner(look.text));
    auto const verdict = judge(m_path, look, m_times);
    if (verdict == Verdict::lives)
      refuse_run_dir(
          m_path,
          fmt::format("another job is running here, {}; give this run its own run.dir", owner));
    if (verdict == Verdict::removed) continue;
    log_warning("{}: left behind by {}, which has ended; taken over", m_path.string(), owner);
    if (::unlink(m_path.c_str()) != 0 && errno != ENOENT)
      refuse_run_dir(m_path, "cannot be removed: " + error_text(errno));
    took_over = true;
  }
  make();
  // If another job has removed and replaced the file at the same time, a short wait shows it.
  if (took_over) nap(m_times.renew_s / 4);
  if (!may_be_ours()) refuse_run_dir(m_path, "another job has taken it over in the same moment");
  start_threads([this] { m_thread = std::thread([this] { keep_renewing(); }); });
}

OwnerFile::~OwnerFile() {
  if (m_thread.joinable()) {
    {
      std::lock_guard const lock(m_mutex);
      m_ends = true;
    }
    m_end.notify_one();
    m_thread.join();
  }
  if (m_file && may_be_ours()) ::unlink(m_path.c_str());
}

void OwnerFile::make() {
  auto const text = to_text(this_process());
  auto const written = write_fully(m_file.get(), std::as_bytes(std::span(text)), 0);
  if (written.error != 0) refuse_run_dir(m_path, "cannot be written: " + error_text(written.error));
  m_count_offset = static_cast<off_t>(text.size());
  renew();
}

// This must not allocate, because the run may forbid allocations.
void OwnerFile::renew() {
  std::array<char, 32> line{};
  int const size = std::snprintf(line.data(), line.size(), "count: %012lld\n", ++m_count);
  auto const text = std::span(line).first(static_cast<std::size_t>(size));
  write_fully(m_file.get(), std::as_bytes(text), m_count_offset);  // the next renewal tries again
  ::fsync(m_file.get());
}

void OwnerFile::keep_renewing() {
  std::chrono::duration<double> const pause(m_times.renew_s);
  std::unique_lock lock(m_mutex);
  while (!m_end.wait_for(lock, pause, [this] { return m_ends; })) {
    if (!may_be_ours()) {
      m_ours = false;
      return;
    }
    renew();
  }
}

// Returns true if the file cannot be looked at now, since that may be possible at the next renewal.
bool OwnerFile::may_be_ours() const {
  return is_named(m_file, m_path);
}

}  // namespace spillway
