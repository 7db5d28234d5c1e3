// A SleepWord is a number on which threads sleep until it changes.
#pragma once

#include <atomic>
#include <cstdint>

namespace spillway {

// A SleepWord does what std::atomic::wait does but never yields, because a thread that yields on a
// busy core waits until all other threads of that core have had their turns. All operations are
// seq_cst, so no sleeping thread misses a change that is followed by a wake.
class SleepWord : public std::atomic<std::uint32_t> {
 public:
  SleepWord() : atomic(0) {}
  using atomic::operator=;

  // Returns once the value is not `seen`. The thread polls for a moment before it sleeps.
  void sleep_while(std::uint32_t seen) const;

  // A thread that changes the value must call wake_one() or wake_all() afterwards. If no thread
  // sleeps, the call costs only a load.
  void wake_one() {
    if (m_sleepers.load() != 0) wake(1);
  }
  void wake_all() {
    if (m_sleepers.load() != 0) wake(kAll);
  }

 private:
  static constexpr int kAll = 1 << 30;
  void wake(int most);

  mutable std::atomic<std::uint32_t> m_sleepers = 0;
};

}  // namespace spillway
