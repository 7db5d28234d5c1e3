// Tells the time of day, for files that other programs and machines read.
#pragma once

#include <chrono>

namespace spillway {

// Returns the seconds since 1970, in UTC.
inline double unix_time_s() {
  auto const now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace spillway
