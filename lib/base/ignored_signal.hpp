// A process inherits from its parent which signals it ignores.
#pragma once

#include <csignal>

namespace spillway {

// Returns whether the signal is ignored now. At the start of a process this is what its parent
// chose, for example nohup or a shell.
inline bool is_ignored(int signal) {
  struct sigaction before {};
  return sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}  // namespace spillway
