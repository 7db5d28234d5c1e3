// SIGTERM and SIGUSR1, and SIGINT and SIGHUP unless they are ignored at the start (by nohup, and by
// shells for what a script puts in the background), ask the run to stop at the next commit; the
// same one again, seconds later, ends it at once.
#pragma once

#include <ctime>

namespace spillway {

// On the main thread, before those that compute are started: a thread of its own takes the signals.
void install_stop_signals();
void request_stop();  // as a first signal would
bool stop_requested();

// Returns whether a signal ends the run at once, where `first` (0: none) was the first one.
constexpr bool ends_at_once(int first, std::time_t first_at_s, int signal, std::time_t now_s) {
  return first == signal && now_s > first_at_s + 1;
}

}  // namespace spillway
