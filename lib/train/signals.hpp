// SIGINT, SIGTERM and SIGUSR1 ask the run to stop at the next commit; a second one ends it at once.
#pragma once

namespace spillway {

void install_stop_signals();
bool stop_requested();

}  // namespace spillway
