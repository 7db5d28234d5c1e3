// A LaneClock counts the items of a lane that have completed. Items count in their order, so an
// item counts only after all items before it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/sleep_word.hpp"

namespace spillway {

// One thread publishes, and any number of threads wait asleep. All that happened before a publish
// is visible to a thread that has seen the new count. Each clock has cache lines of its own, so
// that lanes do not slow each other down.
class alignas(128) LaneClock {
 public:
  std::uint64_t count() const { return m_count.load() & ~kFailed; }
  bool failed() const { return (m_count.load() & kFailed) != 0; }

  // Counts `more` items. Returns true if the count has reached the alarm. The alarm is then off,
  // and the caller must wake the thread that set it.
  bool publish(std::uint64_t more = 1) {
    auto const count = (m_count.fetch_add(more) & ~kFailed) + more;
    ring();
    auto alarm = m_alarm.load();
    return count >= alarm && m_alarm.compare_exchange_strong(alarm, kNever);
  }

  // Sets an alarm at `position` unless an earlier one is set. It is for one thread that sleeps on
  // something else than this clock. That thread must look at the count afterwards, because a
  // publish just before may have missed the alarm.
  void set_alarm(std::uint64_t position) {
    auto alarm = m_alarm.load();
    while (position < alarm && !m_alarm.compare_exchange_weak(alarm, position)) {
    }
  }

  // Sleeps until the count has reached `position`. Returns false if the clock failed instead.
  [[nodiscard]] bool wait_for(std::uint64_t position) const {
    for (;;) {
      // The bell is read before the count. A publish in between changes the bell, so that the sleep
      // ends at once.
      auto const bell = m_bell.load();
      auto const count = m_count.load(std::memory_order_acquire);
      if ((count & kFailed) != 0) return false;
      if (count >= position) return true;
      m_bell.sleep_while(bell);
    }
  }

  // Ends every wait, now and later. Any thread may call it.
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
  SleepWord m_bell;  // what waiting threads sleep on
  std::atomic<std::uint64_t> m_alarm = kNever;
};

}  // namespace spillway
