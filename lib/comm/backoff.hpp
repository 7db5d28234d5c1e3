// A Backoff lets a thread poll without taking a core from other threads: the thread looks a few
// times in quick succession, and then sleeps longer and longer between looks.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/give_way.hpp"
#include "base/waited_time.hpp"

namespace spillway {

class Backoff {
 public:
  void pause() {
    m_waited.look();
    if (m_looks < kQuickLooks) {
      ++m_looks;
      give_way();
      return;
    }
    std::this_thread::sleep_for(m_sleep);
    m_sleep = std::min(2 * m_sleep, kLongestSleep);
  }

  // Call restart() when something has happened: the next looks are quick again.
  void restart() {
    m_waited.restart();
    m_looks = 0;
    m_sleep = kShortestSleep;
  }

  // Returns the seconds of polling since the last restart. Most of the time in which the process
  // was stopped does not count.
  double waited_s() const { return m_waited.seconds(); }

 private:
  static constexpr int kQuickLooks = 32;
  static constexpr std::chrono::microseconds kShortestSleep{10}, kLongestSleep{500};

  static constexpr double kLongestPause_s = 0.1;  // the most time that counts between two looks

  WaitedTime m_waited{kLongestPause_s};
  int m_looks = 0;
  std::chrono::microseconds m_sleep = kShortestSleep;
};

}  // namespace spillway
