#include "tests/support/cuda/clock.hpp"

#include <algorithm>

namespace spillway::test::cuda {

void Clock::tick(int component) {
  auto const i = static_cast<std::size_t>(component);
  if (m_times.size() <= i) m_times.resize(i + 1);
  ++m_times[i];
}

void Clock::join(Clock const& other) {
  m_times.resize(std::max(m_times.size(), other.m_times.size()));
  for (std::size_t i = 0; i < other.m_times.size(); ++i)
    m_times[i] = std::max(m_times[i], other.m_times[i]);
}

bool Clock::knows(Clock const& other) const {
  for (int i = 0; i < std::ssize(other.m_times); ++i)
    if (at(i) < other.at(i)) return false;
  return true;
}

// The clock ticks before the mark is taken, so that no component that acquired an earlier release
// knows of this mark.
Mark Component::mark() {
  m_clock.tick(m_number);
  return {m_number, m_clock.at(m_number), m_clock};
}

Mark Component::now() const {
  return {m_number, m_clock.at(m_number), m_clock};
}

Clock const& Component::release() {
  return m_clock;
}

}  // namespace spillway::test::cuda
