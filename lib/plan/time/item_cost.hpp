// Says how long the items of a Program take on a machine, and which of its resources they use.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Lanes share these resources of a machine. If lanes ask for more than there is, each gets the same
// amount, except lanes that ask for less.
enum class Resource : std::uint8_t { cores, memory, drive };
inline constexpr std::array kResourcesInOrder = {Resource::cores, Resource::memory,
                                                 Resource::drive};
inline constexpr int kResources = kResourcesInOrder.size();
using Shares = EnumArray<Resource, double, kResources>;

// Returns how much of each resource a machine has: cores, GB/s of memory traffic, and GB/s of the
// drive while it reads and writes. A resource that is unknown for the machine is unlimited.
Shares capacities(Machine const& machine);

struct ItemCost {
  double seconds = 0;  // the item's time if it gets all that it asks for
  Shares demand{};     // how much of each resource the item asks for
};
inline ItemCost divided(ItemCost cost, std::int64_t parts) {
  cost.seconds /= static_cast<double>(parts);
  return cost;
}
// Returns the cost of an op on `lane`, which is the compute or the host lane. An op on the host
// lane uses all threads of that lane.
ItemCost op_cost(Op const& op, IdVector<Tensor> const& tensors, Machine const& machine, Lane lane);
// Returns the cost of a copy of `bytes` bytes. The lane says between which tiers they move.
ItemCost copy_cost(std::int64_t bytes, Machine const& machine, Lane lane);
// Returns the cost of sending `bytes` bytes to others of `group` while each of them sends as many.
ItemCost send_cost(std::int64_t bytes, Machine const& machine, RankRange const& group);
IdVector<ItemCost> item_costs(Program const& program, Machine const& machine);

}  // namespace spillway
