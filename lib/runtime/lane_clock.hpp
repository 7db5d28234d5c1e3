// One lane's progress: how many of its items have completed, always a contiguous prefix.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/sleep_word.hpp"

namespace spillway {

// One thread publishes, any number wait asleep. All that happened before a publish is visible to
// who saw its count. Alone on its cache lines: lanes share nothing else.
class alignas(128) LaneClock {
 public:
  std::uint64_t count() const { return m_count.load() & ~kFailed; }
  bool failed() const { return (m_count.load() & kFailed) != 0; }

  // Counts `more`. True when the count has reached the alarm, which is then off: whoever set it is
  // to be woken.
  bool publish(std::uint64_t more = 1) {
    auto const count = (m_count.fetch_add(more) & ~kFailed) + more;
    ring();
    auto alarm = m_alarm.load();
    return count >= alarm && m_alarm.compare_exchange_strong(alarm, kNever);
  }

  // For one thread that sleeps elsewhere; an earlier alarm stays. It looks at the count afterwards:
  // who published before may not have seen the alarm.
  void set_alarm(std::uint64_t position) {
    auto alarm = m_alarm.load();
    while (position < alarm && !m_alarm.compare_exchange_weak(alarm, position)) {
    }
  }

  // Sleeps until the count has reached `position`; false when the clock failed instead.
  [[nodiscard]] bool wait_for(std::uint64_t position) const {
    for (;;) {
      // Read before the count: a publish in between changes it, and the sleep ends at once.
      auto const bell = m_bell.load();
      auto const count = m_count.load(std::memory_order_acquire);
      if ((count & kFailed) != 0) return false;
      if (count >= position) return true;
      m_bell.sleep_while(bell);
    }
  }

  // Ends every wait, now and later. By any thread.
  void fail() {
    m_count.fetch_or(kFailed);
    ring();
  }

 private:
  static constexpr std::uint64_t kFailed = std::uint64_t{1} << 63, kNever = kFailed;

  void ring() {
    ++m_bell;
    m_bell.wake_all();
  }

  std::atomic<std::uint64_t> m_count = 0;
  SleepWord m_bell;  // what waiters sleep on
  std::atomic<std::uint64_t> m_alarm = kNever;
};

}  // namespace spillway
