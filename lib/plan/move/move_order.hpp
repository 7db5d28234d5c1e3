// Orders the moves of state from its old offsets to its new ones, so that nothing is overwritten
// before it has been moved.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/data/plan.hpp"

namespace spillway {

struct Residence {
  Tier tier = Tier::device;
  std::int64_t offset = 0;
  bool operator==(Residence const&) const = default;
};

// A Relocation says that a tensor lies at `from` and shall lie at `to`, which is equal if it stays.
struct Relocation {
  std::int64_t bytes = 0;
  Residence from, to;
};

// Says whether a tensor must move slice by slice through slots. It must if it would overwrite
// itself, or if it moves from NVMe to NVMe, for which there is no direct transfer.
bool needs_slots(Relocation const& relocation);

// A Hop moves one whole tensor from one place to another.
struct Hop {
  int relocation = -1;
  Residence from, to;
};

struct MoveOrder {
  std::vector<Hop> hops;
  Residence slots;              // free memory for `slot_count` slots
  std::int64_t slot_bytes = 0;  // size of each slot; 0 if no slots are needed
  int slot_count = 0;
};

// If tensors block each other in a circle, one of them is moved to a gap first. No tensor goes
// beyond `limits`. Returns nothing if there is no room for such a gap or for the slots.
std::optional<MoveOrder> move_order(std::vector<Relocation> const& relocations,
                                    TierBytes const& limits);

}  // namespace spillway
