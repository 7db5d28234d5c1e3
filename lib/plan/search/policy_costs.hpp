// The costs of blocks are taken from a step in which all of them follow one policy.
#pragma once

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"
#include "plan/time/item_cost.hpp"

namespace spillway {

// One block costs this in one micro-batch under one policy.
struct PolicyCost {
  ItemCost backward;            // includes what is made again
  std::int64_t kept_bytes = 0;  // stay on the device from its forward to its backward pass
  std::int64_t away_bytes = 0;  // leave the device, where the fraction is 1
  // So many bytes are alive at most during its passes, beside what blocks before it keep.
  std::int64_t forward_bytes = 0, backward_bytes = 0;
};

// `costs` are those of the graph's ops on the compute lane.
IdVector<PolicyCost> policy_costs(Graph const& graph, BlockPolicy policy,
                                  IdVector<ItemCost> const& costs);

// `sum` becomes the cost of both in turn, which ask for the average of their demands.
void add(ItemCost& sum, ItemCost const& cost);

}  // namespace spillway
