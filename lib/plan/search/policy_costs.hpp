// What blocks cost and keep where all of them follow one policy.
#pragma once

#include <vector>

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"
#include "plan/time/item_cost.hpp"

namespace spillway {

// One block of one micro-batch under one policy.
struct PolicyCost {
  ItemCost backward;            // with what is made again
  std::int64_t kept_bytes = 0;  // on the device, from its forward to its backward pass
  std::int64_t away_bytes = 0;  // leave it, where all rows do
  // The most bytes alive during its passes, beside what blocks before it keep.
  std::int64_t forward_bytes = 0, backward_bytes = 0;
};

// Per block. `costs`: of the graph's ops, on the compute lane.
std::vector<PolicyCost> policy_costs(Graph const& graph, BlockPolicy policy,
                                     std::vector<ItemCost> const& costs);

// Of both in turn, with what they ask for on the average.
void add(ItemCost& sum, ItemCost const& cost);

}  // namespace spillway
