// State moves from its old offsets to its new ones in an order in which nothing is overwritten
// before it has been moved.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/data/plan.hpp"

namespace spillway {

// A Spot is where a tensor begins in a tier.
struct Spot {
  Tier tier = Tier::device;
  std::int64_t offset = 0;
  bool operator==(Spot const&) const = default;
};

// A Relocation says that a tensor lies at `from` and shall lie at `to`, or stays if both are equal.
struct Relocation {
  std::int64_t bytes = 0;
  Spot from, to;
};

// Returns whether a tensor must move slice by slice through slots. It must if it would overwrite
// itself, or if there is no direct transfer: within NVMe, and where `is_staged` says so. `unified`
// means that device memory is main memory.
bool needs_slots(Relocation const& relocation, bool unified);

// A Hop moves one whole tensor from one place to another.
struct Hop {
  int relocation = -1;
  Spot from, to;
};

struct MoveOrder {
  std::vector<Hop> hops;
  Spot slots;                   // The slots lie one after the other from this place on.
  std::int64_t slot_bytes = 0;  // the size of each slot, which is 0 if no slots are needed
  int slot_count = 0;
};

// Returns an order in which all tensors can move. If tensors block each other in a circle, one of
// them moves to a gap first. Returns nothing if `limits` leave no room for the gap or the slots.
std::optional<MoveOrder> move_order(std::vector<Relocation> const& relocations,
                                    TierBytes const& limits, bool unified);

}  // namespace spillway
