// SIGTERM and SIGUSR1 ask the run to stop at the next commit. So do SIGINT and SIGHUP unless they
// are ignored at the start, as nohup and shells do for background jobs of scripts. The same signal
// again, seconds later, ends the run at once.
#pragma once

#include <ctime>

namespace spillway {

// Call this on the main thread before threads that compute are started. It starts a thread that
// takes the signals.
void install_stop_signals();
void request_stop();  // has the effect of a first signal
bool stop_requested();

// Returns whether `signal` ends the run at once. `first` is the first signal, or 0 if there was
// none.
constexpr bool ends_at_once(int first, std::time_t first_at_s, int signal, std::time_t now_s) {
  return first == signal && now_s > first_at_s + 1;
}

}  // namespace spillway
