// Says whether this process ignores a signal. A process inherits from its parent which signals it
// ignores.
#pragma once

#include <csignal>

namespace spillway {

// Returns whether the process ignores the signal now. When a process starts, its parent has decided
// this; nohup, for example, makes it ignore SIGHUP.
inline bool is_ignored(int signal) {
  struct sigaction before {};
  return sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}  // namespace spillway
