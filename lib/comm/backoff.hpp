// How a thread polls without taking a core from the others: a few quick looks, then ever longer
// sleeps.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace spillway {

class Backoff {
 public:
  using Clock = std::chrono::steady_clock;

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

  double waited_s() const { return std::chrono::duration<double>(Clock::now() - m_start).count(); }

 private:
  static constexpr int kQuickLooks = 32;
  static constexpr std::chrono::microseconds kLongestSleep{500};

  Clock::time_point m_start = Clock::now();
  int m_looks = 0;
  std::chrono::microseconds m_sleep{10};
};

}  // namespace spillway
