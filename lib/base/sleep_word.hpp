// A number that threads look at, and sleep on until it changes.
#pragma once

#include <atomic>
#include <cstdint>

namespace spillway {

// What std::atomic::wait does, but that it never yields: beside threads that are always busy, a
// thread that yields waits until all of them have had their turns. A change that is followed by a
// wake is seen by all who sleep: all operations are seq_cst.
class SleepWord : public std::atomic<std::uint32_t> {
 public:
  SleepWord() : atomic(0) {}
  using atomic::operator=;

  // Looks for a moment, then sleeps, while the value is `seen`.
  void sleep_while(std::uint32_t seen) const;

  // Whoever changes the value calls one of these afterwards. Where nobody sleeps it costs a load.
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
