// Interrupts a blocking system call by signals while it waits.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace spillway::test {

inline std::atomic<int> g_interruptions = 0;

// Returns whether a thread of this process sleeps in a system call.
inline bool is_asleep(pid_t thread) {
  std::string stat;
  std::getline(std::ifstream("/proc/self/task/" + std::to_string(thread) + "/stat"), stat);
  auto const at = stat.rfind(") ");
  return at != stat.npos && stat[at + 2] == 'S';
}

// Runs `waits` on a new thread and interrupts it up to three times while it sleeps, by a signal
// whose handler is installed without SA_RESTART. Then it calls `wakes`, which must let `waits`
// return.
template <class Waits, class Wakes>
void interrupted(Waits const& waits, Wakes const& wakes) {
  struct sigaction noted {
  }, before{};
  noted.sa_handler = [](int) { ++g_interruptions; };
  ::sigaction(SIGUSR2, &noted, &before);
  std::atomic<pid_t> id = 0;
  std::atomic<bool> ended = false;
  std::thread thread([&] {
    id = ::gettid();
    waits();
    ended = true;
  });
  while (id == 0) std::this_thread::yield();
  for (int i = 0; i < 3 && !ended; ++i) {
    while (!is_asleep(id) && !ended) std::this_thread::yield();
    auto const seen = g_interruptions.load();
    if (ended || ::pthread_kill(thread.native_handle(), SIGUSR2) != 0) break;
    while (g_interruptions == seen && !ended) std::this_thread::yield();
  }
  wakes();
  thread.join();
  ::sigaction(SIGUSR2, &before, nullptr);
}

}  // namespace spillway::test
