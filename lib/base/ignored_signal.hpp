// What whoever started this process wants of its signals.
#pragma once

#include <csignal>

namespace spillway {

// Whether the signal is ignored now: at the start, as nohup and shells leave it.
inline bool is_ignored(int signal) {
  struct sigaction before {};
  return sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

}  // namespace spillway
