#include "io/file/partial.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <initializer_list>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cannot_start.hpp"
#include "base/ignored_signal.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// The list of all Partials is never destroyed, because other threads may still use it when the
// process exits.
struct Partials {
  std::timed_mutex mutex;
  std::vector<fs::path> paths;
};
Partials& partials() {
  static auto* const all = new Partials;
  return *all;
}

// Removing is repeated, because another thread may put files into a directory while it is emptied.
// If memory runs out, what is not removed yet stays.
void remove_whole(fs::path const& path) noexcept try {
  constexpr int most_tries = 100;
  std::error_code error;
  for (int i = 0; i < most_tries; ++i) {
    fs::remove_all(path, error);
    if (!error) return;
  }
} catch (std::bad_alloc const&) {
}

// Removes all Partials and ends the process. The lock stays held, so that meanwhile no Partial gets
// its final name and none is made. The wait for the lock is bounded, because its holder may hang in
// a call of a file system.
[[noreturn]] void end_by(int signal) {
  partials().mutex.try_lock_for(std::chrono::seconds(5));
  for (auto const& path : partials().paths) remove_whole(path);
  std::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::_exit(128 + signal);  // reached by process 1 of a container, which the signal does not end
}

}  // namespace

Partial::Partial(std::function<fs::path()> const& make) {
  std::scoped_lock const lock(partials().mutex);
  m_path = make();
  partials().paths.push_back(m_path);
}

Partial::~Partial() {
  std::scoped_lock const lock(partials().mutex);
  if (m_published) return;
  forget();
  remove_whole(m_path);
}

void Partial::publish(std::function<void()> const& rename) {
  std::scoped_lock const lock(partials().mutex);
  rename();
  m_published = true;
  forget();
}

void Partial::forget() {
  auto& paths = partials().paths;
  if (auto const mine = std::ranges::find(paths, m_path); mine != paths.end()) paths.erase(mine);
}

void end_on_signals_without_partials() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU})
    if (!is_ignored(signal)) sigaddset(&signals, signal);  // nohup, for example, ignores SIGHUP
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // threads that start later inherit the mask
  auto const wait = [signals] {
    for (int signal = 0;;)
      if (sigwait(&signals, &signal) == 0) end_by(signal);
  };
  start_threads([&] { return std::thread(wait); }).detach();
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace spillway
