// In which order state goes from its old places to its new ones, so that nothing is overwritten
// before it was moved.
#pragma once

#include <array>
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

// Where one tensor lies and where it shall lie; the two are equal if it stays.
struct Relocation {
  std::int64_t bytes = 0;
  Residence from, to;
};

// Whether bytes of the two share a place; footprints count.
bool overlap(Residence const& a, std::int64_t a_bytes, Residence const& b, std::int64_t b_bytes);
// It cannot go there in one piece: it would overwrite itself, or there is no such transfer.
bool needs_slots(Relocation const& relocation);

// One tensor, whole, from where it is to somewhere else.
struct Hop {
  int relocation = -1;
  Residence from, to;
};

struct MoveOrder {
  std::vector<Hop> hops;
  // Between the two halves of what goes in slices: a free piece of memory for so many of them.
  Residence slots;
  std::int64_t slot_bytes = 0;  // 0: none are needed
  int slot_count = 0;
};

// Where tensors are in each other's way in a circle, one is parked in a gap. Nothing lies beyond
// `limits`. Empty: there is no such gap.
std::optional<MoveOrder> move_order(std::vector<Relocation> const& relocations,
                                    TierBytes const& limits);

}  // namespace spillway
