// Measures time with a clock that is never adjusted.
#pragma once

#include <chrono>

namespace spillway {

using SteadyClock = std::chrono::steady_clock;

inline double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

}  // namespace spillway
