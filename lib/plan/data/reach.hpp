// Says which tiers a lane can reach, and how bytes get from one tier to another. Schedules and
// estimates must use the same rules. `unified` means that device memory is main memory.
#pragma once

#include <algorithm>

#include "plan/data/program.hpp"

namespace spillway {

// The compute lane works in device memory, and the lanes `host` and `comm` in main memory.
constexpr bool reaches(Lane lane, Tier tier, bool unified) {
  if (lane == Lane::compute) return tier == Tier::device;
  return tier == Tier::host || (unified && tier == Tier::device);
}

// Returns whether the host fills or reads a tensor that ops use: batches, scalars and logits. They
// are small. If the device has its own memory, they lie in host memory, which the device reaches.
inline bool is_exchanged_with_host(Tensor const& tensor) {
  return tensor.role == Role::scalar || tensor.role == Role::batch;
}

// Returns whether anything but batches and scalars lies in the host tier.
inline bool uses_host_tier(Program const& program) {
  return std::ranges::any_of(program.buffers, [&](Buffer const& b) {
    return b.tier == Tier::host && !is_exchanged_with_host(program.tensors[b.tensor]);
  });
}

// Returns the tier to which a lane's operands are brought if the lane cannot reach them.
constexpr Tier workplace(Lane lane, bool unified) {
  return lane == Lane::compute || unified ? Tier::device : Tier::host;
}

// Says whether bytes are copied through a ring in host memory. This happens between a device's own
// memory and the drive, since the drive can only reach host memory.
constexpr bool is_staged(Tier from, Tier to, bool unified) {
  bool const between =
      (from == Tier::device && to == Tier::nvme) || (from == Tier::nvme && to == Tier::device);
  return between && !unified;
}
// Returns the tier to which bytes on their way to the tier `to` are copied first.
constexpr Tier first_stop(Tier from, Tier to, bool unified) {
  return is_staged(from, to, unified) ? Tier::host : to;
}
// Each direction has a ring of host memory with room for this many of the largest pieces.
inline constexpr int kStagingPieces = 4;

}  // namespace spillway
