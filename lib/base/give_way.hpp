// How a thread gives way to others between two looks at what it waits for.
#pragma once

#include <chrono>
#include <thread>

#include "base/steady_clock.hpp"

namespace spillway {

// Beside threads that are always busy, a thread that yields waits until all of them have had their
// turns; one that wakes from a sleep does not. So a yield that took long is followed by sleeps for
// a while. Not for several threads at once.
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

// The same for whatever this thread waits for: what one wait has seen of others, the next one
// knows.
inline void give_way() {
  thread_local GiveWay way;
  way();
}

}  // namespace spillway
