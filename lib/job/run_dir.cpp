#include "job/run_dir.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "io/file/path_names.hpp"
#include "job/refuse_run_dir.hpp"
#include "state/kept_configs.hpp"

namespace spillway {
namespace {

bool means_no_flock(int error) {
  return error == ENOSYS || error == ENOLCK || error == EOPNOTSUPP || error == ENOTSUP;
}

// Returns 0, or the errno of flock.
int lock_now(FileDescriptor const& file) {
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

// Locks the file as soon as nobody holds it, within a second: commands that look at a run hold its
// lock for a moment (job/at_work.hpp). Returns 0, or the errno of flock.
int lock_soon(FileDescriptor const& file) {
  constexpr int tries = 20;
  int error = lock_now(file);
  for (int i = 0; i < tries && error == EWOULDBLOCK; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    error = lock_now(file);
  }
  return error;
}

constexpr char const* kTooLate = "this one renewed `lock.owner` too late";

// Returns whether runs write a text of this name here. The link `latest` does not count, because
// mend_latest repairs it.
bool is_text_of_runs(std::string const& name) {
  auto const others = {"config.yaml", "environment.json", "plan.json",
                       "plan.txt",    "plan.yaml",        "summary.json"};
  return std::ranges::find(others, name) != others.end() || step_of_config(name) ||
         number_between("plan-", name, ".yaml");
}

// Removes, as far as possible, texts that killed jobs have left unfinished.
void remove_unfinished_texts(std::filesystem::path const& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> unfinished;
  for (auto at = std::filesystem::directory_iterator(directory, error);
       at != std::filesystem::directory_iterator(); at.increment(error)) {
    bool const marked = at->path().extension() == ".partial";
    if (marked && is_text_of_runs(at->path().stem().string())) unfinished.push_back(at->path());
  }
  for (auto const& path : unfinished) ::unlink(path.c_str());
}

// Returns the directories on the way to the path that are not there, the outermost first.
std::vector<std::filesystem::path> missing_directories(std::filesystem::path const& path) {
  std::vector<std::filesystem::path> missing;
  std::error_code ignored;
  for (auto at = without_slash(path); !at.empty() && !std::filesystem::exists(at, ignored);
       at = at.parent_path())
    missing.insert(missing.begin(), at);
  return missing;
}

bool holds_only(std::filesystem::path const& directory, std::string const& name) {
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(directory, error);
       at != std::filesystem::directory_iterator(); at.increment(error))
    if (at->path().filename() != name) return false;
  return !error;
}

}  // namespace

void require_run_place(std::filesystem::path const& path) {
  std::error_code unused;
  auto nearest = std::filesystem::absolute(path);
  while (!std::filesystem::exists(nearest, unused) && nearest.has_relative_path())
    nearest = nearest.parent_path();
  if (open_without_name(nearest)) return;
  auto const why = error_text(errno);
  auto const* const what = std::filesystem::exists(path, unused) ? "written" : "created";
  refuse_run_dir(path, fmt::format("cannot be {}: {}", what, why));
}

// Another job may remove what it has made here until this one holds the lock.
RunDir::RunDir(std::filesystem::path path) : m_path(std::move(path)) {
  do {
    make();
    take_lock();
  } while (!is_named(m_lock, m_path / "lock"));
  remove_unfinished_texts(m_path);
}

RunDir::~RunDir() {
  m_owner.reset();  // removes its file
  auto const lock = m_path / "lock";
  if (!m_lock || !m_made_lock || !holds_only(m_path, "lock") || !is_named(m_lock, lock)) return;
  ::unlink(lock.c_str());
  for (auto i = m_made.size(); i-- > 0;) ::rmdir(m_made[i].c_str());
}

void RunDir::make() {
  m_owner.reset();
  auto const missing = missing_directories(m_path);
  if (!missing.empty()) m_made = missing;
  try {
    make_directories(m_path);
  } catch (Error const& error) {
    throw Error(Status::bad_input, fmt::format("run.dir: {}", error.what()));
  }
}

void RunDir::take_lock() {
  auto const file = m_path / "lock";
  std::error_code ignored;  // opening it says why
  m_made_lock |= !std::filesystem::exists(file, ignored);
  m_lock =
      FileDescriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!m_lock) refuse_run_dir(m_path, "cannot be written: " + error_text(errno));
  int const error = lock_soon(m_lock);
  if (error == EWOULDBLOCK)
    refuse_run_dir(m_path,
                   "another job is running in it (it holds `lock`); give this run its own run.dir");
  if (means_no_flock(error)) {
    log_warning("run.dir: {}: this file system has no flock ({}); `lock.owner` says who runs here",
                m_path.string(), error_text(error));
    m_owner = std::make_unique<OwnerFile>(m_path / "lock.owner");
  } else if (error != 0) {
    refuse_run_dir(m_path, "`lock` cannot be locked: " + error_text(error));
  }
  if (int const failed = write_lock())
    refuse_run_dir(m_path, "cannot be written: " + error_text(failed));
}

// Returns an errno, or 0.
int RunDir::write_lock() const {
  auto const owner = fmt::format("{}\n", getpid());
  auto const written = write_fully(m_lock.get(), std::as_bytes(std::span(owner)), 0);
  if (written.error != 0) return written.error;
  return ::ftruncate(m_lock.get(), static_cast<off_t>(owner.size())) != 0 ? errno : 0;
}

void RunDir::require_ours() const {
  if (m_owner && !m_owner->is_ours()) refuse_as_lost(kTooLate);
}

void RunDir::require_ours_now() {
  if (m_owner && !m_owner->is_ours_now()) refuse_as_lost(kTooLate);
  if (!m_owner) hold_lock_there();
}

bool RunDir::is_ours_now() const {
  return m_owner ? m_owner->is_ours_now() : is_named(m_lock, m_path / "lock");
}

// Holds the `lock` that is at the path now, so that the next job finds it held. If it cannot be
// opened, the run goes on, and the checkpoint that is due will report the cause.
void RunDir::hold_lock_there() {
  auto const path = m_path / "lock";
  if (is_named(m_lock, path)) return;
  FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kFileMode));
  if (!file) return;
  int const error = lock_soon(file);
  if (error == EWOULDBLOCK) refuse_as_lost("`lock` was removed");
  if (error != 0) return;
  m_lock = std::move(file);
  write_lock();  // for people; it is locked even if this fails
  log_warning("run.dir: {}: somebody has removed or replaced `lock`; it is held anew",
              m_path.string());
}

void RunDir::refuse_as_lost(char const* why) const {
  refuse_run_dir(
      m_path,
      fmt::format("another job has taken it over, for {}; this one ends, and leaves everything "
                  "to the other",
                  why));
}

void RunDir::write(std::string const& name, std::string const& text) const {
  replace_text(m_path / name, text);
}

}  // namespace spillway
