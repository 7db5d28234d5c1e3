// The costs of a block are those of a step in which all blocks follow the same policy.
#pragma once

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"
#include "plan/time/item_cost.hpp"

namespace spillway {

// These are the costs of one block in one micro-batch under one policy.
struct PolicyCost {
  ItemCost backward;            // includes the ops that run again
  std::int64_t kept_bytes = 0;  // activations that stay on the device between both passes
  std::int64_t away_bytes = 0;  // activations that leave if the Plan's fraction is 1
  // These are the most bytes alive in the block's passes, without what earlier blocks keep.
  std::int64_t forward_bytes = 0, backward_bytes = 0;
};

// `costs` are the costs of the graph's ops on the compute lane.
IdVector<PolicyCost> policy_costs(Graph const& graph, BlockPolicy policy,
                                  IdVector<ItemCost> const& costs);

// Adds `cost` to `sum` if both run in turn. The demands become averages over the total time.
void add(ItemCost& sum, ItemCost const& cost);

}  // namespace spillway
