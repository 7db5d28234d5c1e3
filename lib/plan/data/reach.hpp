// Says which tiers a lane can reach, and how bytes get from one tier to another. Schedules and
// estimates must use the same rules. `unified` means that device memory is main memory.
#pragma once

#include <algorithm>

#include "plan/data/program.hpp"

namespace spillway {

// The compute lane works in device memory, and the lanes `host`, `comm` and `data` in main
// memory.
constexpr bool reaches(Lane lane, Tier tier, bool unified) {
  if (lane == Lane::compute) return tier == Tier::device;
  return tier == Tier::host || (unified && tier == Tier::device);
}

// Returns the lane whose ops work on state or gradients that have this tier as their home.
constexpr Lane op_lane(Tier tier) {
  return tier == Tier::host ? Lane::host : Lane::compute;
}

// Returns whether the host fills or reads a tensor that ops use. Such tensors are small.
inline bool is_exchanged_with_host(Tensor const& tensor) {
  return tensor.role == Role::scalar || tensor.role == Role::batch;
}
// Returns the tier in which ops of the compute lane find a tensor. A device with its own memory
// reaches batches and scalars in host memory, and everything else in device memory alone.
inline Tier compute_tier(Tensor const& tensor, bool unified) {
  return !unified && is_exchanged_with_host(tensor) ? Tier::host : Tier::device;
}

// Returns whether anything but batches and scalars lies in the host tier.
inline bool uses_host_tier(Program const& program) {
  return std::ranges::any_of(program.buffers, [&](Buffer const& b) {
    return b.tier == Tier::host && !is_exchanged_with_host(program.tensors[b.tensor]);
  });
}

// Returns whether a step leaves everything on the device but batches and scalars.
inline bool stays_on_device(Program const& program) {
  return program.peak_bytes[Tier::nvme] == 0 && !uses_host_tier(program);
}

// Returns the tier to which a lane's operands are brought if the lane cannot reach them.
constexpr Tier workplace(Lane lane, bool unified) {
  return reaches(lane, Tier::device, unified) ? Tier::device : Tier::host;
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
