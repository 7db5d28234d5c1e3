// These functions say which memory a lane works on, and by which way bytes get from one tier to
// another. Schedules and estimates must agree on them. If `unified`, device memory is main memory.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

constexpr bool reaches(Lane lane, Tier tier, bool unified) {
  if (lane == Lane::host) return tier == Tier::host || (unified && tier == Tier::device);
  return tier == Tier::device;
}

// A lane has what it does not reach brought to this tier.
constexpr Tier workplace(Lane lane, bool unified) {
  return lane == Lane::host && !unified ? Tier::host : Tier::device;
}

// Between a device's own memory and the drive, bytes go through slots in host memory, since the
// drive knows no other memory.
constexpr bool is_staged(Tier from, Tier to, bool unified) {
  bool const between =
      (from == Tier::device && to == Tier::nvme) || (from == Tier::nvme && to == Tier::device);
  return between && !unified;
}
// Each direction has so many of these slots and takes them in turns.
inline constexpr int kStagingSlots = 4;

}  // namespace spillway
