// SIGTERM and SIGUSR1 ask the run to stop at the next commit. SIGINT and SIGHUP do this too unless
// they are ignored at the start, as nohup and shells do for background jobs of scripts. If the
// signal that came first comes again, two seconds later or more, the run ends at once.
#pragma once

#include <cstdint>

namespace spillway {

// Call this on the main thread before threads that compute are started. It starts a thread that
// takes the signals.
void install_stop_signals();
void request_stop();  // has the effect of a first signal
bool stop_requested();

// A launcher and a terminal may both deliver one Ctrl-C, so a repetition counts only if it comes at
// least this much later.
inline constexpr std::int64_t kRepeatedAfter_ns = 2'000'000'000;

// Returns whether `signal` ends the run at once. `first` is the first signal, or 0 if there was
// none.
constexpr bool ends_at_once(int first, std::int64_t first_at_ns, int signal, std::int64_t now_ns) {
  return first == signal && now_ns - first_at_ns >= kRepeatedAfter_ns;
}

}  // namespace spillway
