// Says how long the items of a Program take on a machine, and what they need of it meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Lanes share these. If they ask for more than there is in sum, each gets the same amount, except
// those that ask for less.
enum class Resource : std::uint8_t { cores, memory, drive };
inline constexpr std::array kResourcesInOrder = {Resource::cores, Resource::memory,
                                                 Resource::drive};
inline constexpr int kResources = kResourcesInOrder.size();
using Shares = EnumArray<Resource, double, kResources>;

// Returns what there is to share: cores, GB/s of memory traffic, and GB/s of the drive while it
// reads and writes. What the machine does not say is infinite.
Shares capacities(Machine const& machine);

struct ItemCost {
  double seconds = 0;  // if it gets all that it asks for
  Shares demand{};     // what it asks for
};
inline ItemCost divided(ItemCost cost, std::int64_t parts) {
  cost.seconds /= static_cast<double>(parts);
  return cost;
}
// `lane` is the compute or the host lane; an op on the host lane uses all its threads.
ItemCost op_cost(Op const& op, IdVector<Tensor> const& tensors, Machine const& machine, Lane lane);
// `lane` is one of the lanes of transfers and says between which tiers the bytes move.
ItemCost copy_cost(std::int64_t bytes, Machine const& machine, Lane lane);
// A message on the comm lane costs this while all `ranks` send as many bytes.
ItemCost send_cost(std::int64_t bytes, Machine const& machine, std::int64_t ranks);
IdVector<ItemCost> item_costs(Program const& program, Machine const& machine);

}  // namespace spillway
