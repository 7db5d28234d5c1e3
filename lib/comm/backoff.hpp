// How a thread polls without taking a core from the others: a few quick looks, then ever longer
// sleeps.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/steady_clock.hpp"

namespace spillway {

class Backoff {
 public:
  void pause() {
    if (m_looks < kQuickLooks) {
      ++m_looks;
      std::this_thread::yield();
      return;
    }
    std::this_thread::sleep_for(m_sleep);
    m_sleep = std::min(2 * m_sleep, kLongestSleep);
  }

  // Something moved.
  void restart() { *this = Backoff(); }

  double waited_s() const { return seconds_since(m_start); }

 private:
  static constexpr int kQuickLooks = 32;
  static constexpr std::chrono::microseconds kLongestSleep{500};

  SteadyClock::time_point m_start = SteadyClock::now();
  int m_looks = 0;
  std::chrono::microseconds m_sleep{10};
};

}  // namespace spillway
