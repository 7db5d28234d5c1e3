#include "plan/bound/busy.hpp"

#include <algorithm>

namespace spillway {

namespace {

constexpr std::int64_t kManyBytes = std::int64_t{1} << 30;

Busy of_byte(ItemCost cost, Lane lane, Machine const& machine) {
  cost.seconds = std::max(0.0, cost.seconds - machine.item_overhead_s);
  return (1.0 / static_cast<double>(kManyBytes)) * busy_with(cost, lane, machine);
}

}  // namespace

Busy busy_with(ItemCost const& cost, Lane lane, Machine const& machine) {
  Busy result{};
  result[index(lane)] = cost.seconds;
  auto const capacity = capacities(machine);
  for (std::size_t r = 0; r < kResources; ++r)
    result[kLanes + r] = cost.seconds * std::min(cost.demand[r], capacity[r]) / capacity[r];
  return result;
}

Busy copy_of_byte(Lane lane, Machine const& machine) {
  return of_byte(copy_cost(kManyBytes, machine, lane), lane, machine);
}

// Whichever ranks exchange bytes, they do so at most at the faster one of both rates.
Busy send_of_byte(std::int64_t ranks, Machine const& machine) {
  Busy result{};
  if (ranks == 1) return result;
  auto fastest = machine;
  fastest.network_gbps = fastest.node_gbps = std::max(machine.network_gbps, machine.node_gbps);
  return of_byte(send_cost(kManyBytes, fastest, all_ranks(ranks)), Lane::comm, machine);
}

}  // namespace spillway
