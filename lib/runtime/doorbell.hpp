// A Doorbell wakes the one thread that waits for several lanes and for the spill file at once.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/sleep_word.hpp"
#include "io/spill/spill_file.hpp"

namespace spillway {

// The thread that wants to sleep announces where it will sleep, looks once more at what it waits
// for, and sleeps. Other threads change what it waits for and ring afterwards. Because all
// operations are seq_cst, either the thread sees the change, or the other thread sees the
// announcement.
class Doorbell {
 public:
  enum class Sleeper : std::uint8_t { awake, on_bell, in_storage };

  explicit Doorbell(SpillFile* spill) : m_spill(spill) {}

  // Only the thread that sleeps calls announce, sleep and stop_sleeping. It passes to `sleep` what
  // `announce` returned. If it has announced `in_storage`, it calls SpillFile::wait instead of
  // `sleep`.
  std::uint32_t announce(Sleeper sleeper) {
    auto const bell = m_bell.load();
    m_sleeper.store(sleeper);
    return bell;
  }
  void sleep(std::uint32_t bell) { m_bell.sleep_while(bell); }
  void stop_sleeping() { m_sleeper.store(Sleeper::awake); }

  // All other threads may call this. It costs one load if nobody sleeps.
  void ring() {
    if (m_sleeper.load() == Sleeper::awake) return;
    switch (m_sleeper.exchange(Sleeper::awake)) {
      case Sleeper::awake:
        return;
      case Sleeper::on_bell:
        ++m_bell;
        return m_bell.wake_one();
      case Sleeper::in_storage:
        return m_spill->wake();
    }
  }

 private:
  SpillFile* m_spill;  // may be null if nobody sleeps in storage
  std::atomic<Sleeper> m_sleeper = Sleeper::awake;
  SleepWord m_bell;
};

}  // namespace spillway
