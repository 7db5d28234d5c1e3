// SIGTERM and SIGUSR1, and SIGINT and SIGHUP unless they are ignored at the start (by nohup, and by
// shells for what a script puts in the background), ask the run to stop at the next commit; the
// same one again, seconds later, ends it at once.
#pragma once

namespace spillway {

// On the main thread, before those that compute are started: a thread of its own takes the signals.
void install_stop_signals();
void request_stop();  // as a first signal would
bool stop_requested();

}  // namespace spillway
