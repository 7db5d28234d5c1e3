// A WaitedTime says how long a thread has waited for something. It leaves out most of the time in
// which the process was stopped or the thread did something else.
#pragma once

#include <algorithm>

#include "base/steady_clock.hpp"

namespace spillway {

class WaitedTime {
 public:
  // The time between two calls of look() counts as at most `most_s` seconds.
  explicit WaitedTime(double most_s, SteadyClock::time_point now = SteadyClock::now())
      : m_most_s(most_s), m_looked(now) {}

  void restart(SteadyClock::time_point now = SteadyClock::now()) {
    m_looked = now;
    m_waited_s = 0;
  }
  void look(SteadyClock::time_point now = SteadyClock::now()) {
    m_waited_s += std::min(std::chrono::duration<double>(now - m_looked).count(), m_most_s);
    m_looked = now;
  }
  double seconds() const { return m_waited_s; }

 private:
  double m_most_s;
  SteadyClock::time_point m_looked;
  double m_waited_s = 0;
};

}  // namespace spillway
