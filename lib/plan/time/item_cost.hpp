// What the items of a Program ask of a machine.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// What lanes share. Where they ask together for more than there is, all get as much of it, but for
// those that ask for less.
enum class Resource : std::uint8_t { cores, memory, drive };
inline constexpr int kResources = 3;
using Shares = EnumArray<Resource, double, kResources>;

// Cores, GB/s of memory traffic, and GB/s of the drive where both directions are under way: one
// alone may be faster. Infinite where the machine does not say.
Shares capacities(Machine const& machine);

struct ItemCost {
  double seconds = 0;  // with all it asks for
  Shares demand{};     // meanwhile
};
inline ItemCost divided(ItemCost cost, std::int64_t parts) {
  cost.seconds /= static_cast<double>(parts);
  return cost;
}
// `lane`: compute, or host, where ops run on all its threads.
ItemCost op_cost(Op const& op, IdVector<Tensor> const& tensors, Machine const& machine, Lane lane);
// On a lane of transfers, to or from where it leads.
ItemCost copy_cost(std::int64_t bytes, Machine const& machine, Lane lane);
// On the comm lane: what one of `ranks` sends while all do.
ItemCost send_cost(std::int64_t bytes, Machine const& machine, std::int64_t ranks);
std::vector<ItemCost> item_costs(Program const& program, Machine const& machine);

}  // namespace spillway
