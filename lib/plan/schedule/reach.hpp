// Which memory a lane works on, and by which way bytes get from one tier to another: what schedules
// and estimates must agree on. `unified`: device memory is main memory.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

constexpr bool reaches(Lane lane, Tier tier, bool unified) {
  if (lane == Lane::host) return tier == Tier::host || (unified && tier == Tier::device);
  return tier == Tier::device;
}

// The tier to which a lane has brought what it does not reach.
constexpr Tier workplace(Lane lane, bool unified) {
  return lane == Lane::host && !unified ? Tier::host : Tier::device;
}

// Between a device's own memory and the drive bytes go through slots in host memory, since the
// drive knows no other.
constexpr bool is_staged(Tier from, Tier to, bool unified) {
  bool const between =
      (from == Tier::device && to == Tier::nvme) || (from == Tier::nvme && to == Tier::device);
  return between && !unified;
}
// Of these slots, for either direction: they are taken in turns.
inline constexpr int kStagingSlots = 4;

}  // namespace spillway
