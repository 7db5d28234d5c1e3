// What the user asks of a Plan, and the Plan that it makes where nothing is searched for.
#pragma once

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

inline constexpr int kShortestPrefetch = 1;

struct PlanRequest : AskedPlan {
  bool norm_is_awaited = true;  // by updates: for clipping, or to skip a step that is not finite
};

// `automatic` stands for `auto` in `activations`; elsewhere that is the device, but updates of
// chunks whose optimizer state is not there run on the host lane, beside the next forward, or
// beside the backward pass where they need not wait for the norm.
// A `prefetch` that is empty becomes 1. The Plan is normal (normal_plan.hpp).
// Throws std::invalid_argument, naming the key and the lengths, for a list that is longer than
// there are layers (chunks).
Plan make_plan(Graph const& graph, PlanRequest const& request, BlockPolicy automatic);

}  // namespace spillway
