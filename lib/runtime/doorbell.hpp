// What wakes the one thread that waits for several lanes and for storage at once.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/sleep_word.hpp"
#include "io/spill/spill_file.hpp"

namespace spillway {

// The sleeper announces where it will sleep, looks once more at what it waits for, and sleeps. Who
// changes that rings afterwards. One of the two sees the other's store: all are seq_cst.
class Doorbell {
 public:
  enum class Place : std::uint8_t { awake, on_bell, in_storage };

  explicit Doorbell(SpillFile* spill) : m_spill(spill) {}

  // By the sleeper. What `announce` gives, `sleep` is told; in storage it sleeps in
  // SpillFile::wait.
  std::uint32_t announce(Place place) {
    auto const bell = m_bell.load();
    m_place.store(place);
    return bell;
  }
  void sleep(std::uint32_t bell) { m_bell.sleep_while(bell); }
  void get_up() { m_place.store(Place::awake); }

  // By any other thread; a load where nobody sleeps.
  void ring() {
    if (m_place.load() == Place::awake) return;
    switch (m_place.exchange(Place::awake)) {
      case Place::awake:
        return;
      case Place::on_bell:
        ++m_bell;
        return m_bell.wake_one();
      case Place::in_storage:
        return m_spill->wake();
    }
  }

 private:
  SpillFile* m_spill;  // may be null: then nobody sleeps there
  std::atomic<Place> m_place = Place::awake;
  SleepWord m_bell;
};

}  // namespace spillway
