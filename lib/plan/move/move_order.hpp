// Orders the moves of state from its old offsets to its new ones, so that nothing is overwritten
// before it was moved.
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

// One tensor lies at `from` and shall lie at `to`; the two are equal if it stays.
struct Relocation {
  std::int64_t bytes = 0;
  Residence from, to;
};

// Says whether two tensors' footprints share bytes.
bool overlap(Residence const& a, std::int64_t a_bytes, Residence const& b, std::int64_t b_bytes);
// Says whether a tensor goes slice by slice through slots: if it would overwrite itself, or goes
// from NVMe to NVMe, for which there is no transfer.
bool needs_slots(Relocation const& relocation);

// Moves one whole tensor from where it is to somewhere else.
struct Hop {
  int relocation = -1;
  Residence from, to;
};

struct MoveOrder {
  std::vector<Hop> hops;
  Residence slots;              // free memory for `slot_count` slices on their way
  std::int64_t slot_bytes = 0;  // of each; 0: none are needed
  int slot_count = 0;
};

// Where tensors are in each other's way in a circle, one is parked in a gap. Nothing goes beyond
// `limits`. Returns nothing if there is no such gap.
std::optional<MoveOrder> move_order(std::vector<Relocation> const& relocations,
                                    TierBytes const& limits);

}  // namespace spillway
