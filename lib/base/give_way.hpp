// A thread that polls calls these functions to let other threads run between two looks.
#pragma once

#include <chrono>
#include <thread>

#include "base/steady_clock.hpp"

namespace spillway {

// A thread that yields on a busy core waits until all other threads there have had their turns, but
// a thread that wakes from a sleep does not. So after a yield that took long, a GiveWay sleeps
// instead for a while. An object of this class serves one thread.
class GiveWay {
 public:
  void operator()() {
    auto const begin = SteadyClock::now();
    if (sleeps(begin)) return std::this_thread::sleep_for(kSleep);
    std::this_thread::yield();
    note_yield(begin, SteadyClock::now());
  }

  bool sleeps(SteadyClock::time_point now) const { return now < m_sleeps_until; }
  void note_yield(SteadyClock::time_point begin, SteadyClock::time_point end) {
    if (end - begin > kLongYield) m_sleeps_until = end + kSleepsFor;
  }

 private:
  static constexpr std::chrono::microseconds kLongYield{500}, kSleep{20};
  static constexpr std::chrono::milliseconds kSleepsFor{50};

  SteadyClock::time_point m_sleeps_until{};
};

// Lets other threads run by means of a GiveWay that the calling thread keeps, so that it remembers
// from one wait to the next what it has learned about its core.
inline void give_way() {
  thread_local GiveWay way;
  way();
}

}  // namespace spillway
