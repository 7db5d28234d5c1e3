// Vector clocks tell what must have happened before what, whatever the real timing was. A component
// of a clock is a thread of the host or a stream.
#pragma once

#include <cstdint>
#include <vector>

namespace spillway::test::cuda {

class Clock {
 public:
  std::uint64_t at(int component) const {
    auto const i = static_cast<std::size_t>(component);
    return i < m_times.size() ? m_times[i] : 0;
  }
  void tick(int component);
  void join(Clock const& other);
  bool knows(Clock const& other) const;  // returns whether all that `other` knows is known here

 private:
  std::vector<std::uint64_t> m_times;
};

// A Mark is a moment of a component, together with all that must have happened before it.
struct Mark {
  int component = -1;
  std::uint64_t time = 0;
  Clock before;
};

// Returns whether what ended at one mark must have happened before what began at the other.
inline bool ordered(Mark const& earlier_end, Mark const& later_begin) {
  return later_begin.before.at(earlier_end.component) >= earlier_end.time;
}

class Component {
 public:
  explicit Component(int number) : m_number(number) {}

  Mark mark();             // makes a new moment of this component
  Mark now() const;        // returns the latest moment
  Clock const& release();  // returns all that has happened, for acquire()
  void acquire(Clock const& clock) { m_clock.join(clock); }
  Clock const& clock() const { return m_clock; }
  bool knows(Mark const& mark) const { return m_clock.at(mark.component) >= mark.time; }
  bool knows_all_of(Component const& other) const {
    return m_clock.at(other.m_number) >= other.m_clock.at(other.m_number);
  }

 private:
  int m_number;
  Clock m_clock;
};

}  // namespace spillway::test::cuda
