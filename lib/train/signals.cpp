#include "train/signals.hpp"

#include <unistd.h>

#include <csignal>
#include <ctime>
#include <initializer_list>

namespace spillway {
namespace {

volatile std::sig_atomic_t g_requested = 0;
volatile std::time_t g_signalled_at_s = 0;  // the first time; 0: not yet

// A launcher and a terminal may both deliver the same Ctrl-C: a second request counts as one only
// in a later second.
void on_signal(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  bool const again = g_signalled_at_s != 0;
  if (again && now.tv_sec > g_signalled_at_s + 1) _exit(128 + signal);
  if (!again) g_signalled_at_s = now.tv_sec;
  g_requested = 1;
}

}  // namespace

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int const signal : {SIGINT, SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);  // a file above the shell's limit then fails like a full disk
}

void request_stop() {
  g_requested = 1;
}

bool stop_requested() {
  return g_requested != 0;
}

}  // namespace spillway
