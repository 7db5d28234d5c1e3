// Lets other threads run while a thread polls: the polling thread calls give_way() between two
// looks.
#pragma once

#include <chrono>
#include <thread>

#include "base/steady_clock.hpp"

namespace spillway {

// On a busy core, a thread that yields waits until all other threads of the core have had their
// turns, but a thread that wakes from a short sleep does not. After a yield that took long, a
// GiveWay therefore sleeps instead of yielding for a while. Each thread needs its own GiveWay.
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

// Lets other threads run. The calling thread keeps one GiveWay for all calls, which remembers
// whether the thread's core was busy.
inline void give_way() {
  thread_local GiveWay way;
  way();
}

}  // namespace spillway
