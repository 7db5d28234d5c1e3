#include "job/owner_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "job/owner.hpp"
#include "job/refuse_run_dir.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

enum class Verdict { lives, gone, removed };

std::string in_words(std::optional<Owner> const& owner) {
  return owner ? fmt::format("pid {} on {}", owner->pid, owner->host) : "one that it does not name";
}

// Opened anew each time: a network file system then asks its server. Empty: there is none; what is
// no file of ours has no text.
std::optional<std::string> text_of(fs::path const& path) {
  FileDescriptor const file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return {};
  std::array<char, 4096> text{};
  auto const size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  return std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

void nap(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// Whether anything changes in the file.
Verdict watch(fs::path const& path, std::string const& text, OwnerTimes const& times) {
  log_info("{}: says that {} runs here; watched for {:.0f} s", path.string(),
           in_words(parse_owner(text)), times.watch_s);
  auto const begin = SteadyClock::now();
  while (seconds_since(begin) < times.watch_s) {
    nap(times.renew_s / 4);
    auto const now = text_of(path);
    if (!now) return Verdict::removed;
    if (*now != text) return Verdict::lives;
  }
  return Verdict::gone;
}

Verdict judge(fs::path const& path, std::string const& text, OwnerTimes const& times) {
  auto const owner = parse_owner(text);
  if (auto const running = owner ? runs(*owner) : std::nullopt)
    return *running ? Verdict::lives : Verdict::gone;
  return watch(path, text, times);
}

}  // namespace

OwnerFile::OwnerFile(fs::path path, OwnerTimes times) : m_path(std::move(path)), m_times(times) {
  bool took_over = false;
  while (!(m_file = FileDescriptor(::open(
               m_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode)))) {
    if (errno != EEXIST) refuse_run_dir(m_path, "cannot be created: " + error_text(errno));
    auto const text = text_of(m_path);
    if (!text) continue;
    auto const owner = in_words(parse_owner(*text));
    auto const verdict = judge(m_path, *text, m_times);
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
  if (took_over) nap(m_times.renew_s / 4);  // who took it over in the same moment shows by then
  if (!lies_there()) refuse_run_dir(m_path, "another job has taken it over in the same moment");
  m_thread = std::thread([this] { keep_renewing(); });
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
  if (lies_there()) ::unlink(m_path.c_str());
}

void OwnerFile::make() {
  auto const text = to_text(this_process());
  auto const written = write_fully(m_file.get(), std::as_bytes(std::span(text)), 0);
  if (written.error != 0) refuse_run_dir(m_path, "cannot be written: " + error_text(written.error));
  m_count_offset = static_cast<off_t>(text.size());
  renew();
}

// No allocations: the run may forbid them.
void OwnerFile::renew() {
  std::array<char, 32> line{};
  int const size = std::snprintf(line.data(), line.size(), "count: %012lld\n", ++m_count);
  auto const text = std::span(line).first(static_cast<std::size_t>(size));
  write_fully(m_file.get(), std::as_bytes(text), m_count_offset);  // tried again at the next
  ::fsync(m_file.get());
}

void OwnerFile::keep_renewing() {
  std::chrono::duration<double> const pause(m_times.renew_s);
  std::unique_lock lock(m_mutex);
  while (!m_end.wait_for(lock, pause, [this] { return m_ends; })) {
    if (!lies_there()) {
      m_ours = false;
      return;
    }
    renew();
  }
}

// What cannot be looked at now may be at the next renewal.
bool OwnerFile::lies_there() const {
  return is_named(m_file, m_path);
}

}  // namespace spillway
