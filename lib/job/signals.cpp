#include "job/signals.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <thread>

#include "base/cannot_start.hpp"
#include "base/ignored_signal.hpp"

namespace spillway {
namespace {

volatile std::sig_atomic_t g_requested = 0;
volatile std::sig_atomic_t g_first_signal = 0;
volatile std::int64_t g_first_at_ns = 0;

// A signal handler may call clock_gettime, but not what C++ has for clocks.
std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Only a repetition of the first signal ends the run at once, because the SIGTERM that a batch
// system sends after its own SIGUSR1 must not cut off the checkpoint.
void on_signal(int signal) {
  auto const now = now_ns();
  if (ends_at_once(g_first_signal, g_first_at_ns, signal, now)) _exit(128 + signal);
  if (g_first_signal == 0) {
    g_first_signal = signal;
    g_first_at_ns = now;
  }
  g_requested = 1;
}

// Signals must not interrupt threads that compute, because oneDNN's kernels for AVX2 (2.6) keep
// data below the part of the stack that a signal handler leaves alone. So a thread of its own takes
// signals, and threads that start later inherit the blocked mask.
void take_in_a_thread_of_their_own(sigset_t const& signals) {
  auto const take = [signals] {
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // the parent may have blocked them
    while (true) pause();
  };
  start_threads([&] { return std::thread(take); }).detach();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigset_t signals;
  sigemptyset(&signals);
  for (int const signal : {SIGINT, SIGHUP, SIGTERM, SIGUSR1}) {
    bool const is_of_terminals = signal == SIGINT || signal == SIGHUP;
    if (is_of_terminals && is_ignored(signal)) continue;  // shells and nohup want it ignored
    sigaction(signal, &action, nullptr);
    sigaddset(&signals, signal);
  }
  take_in_a_thread_of_their_own(signals);
  std::signal(SIGXFSZ, SIG_IGN);  // writing too large a file then fails like a full disk
}

void request_stop() {
  g_requested = 1;
}

bool stop_requested() {
  return g_requested != 0;
}

}  // namespace spillway
