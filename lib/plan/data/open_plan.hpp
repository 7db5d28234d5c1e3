// A Plan of which some is asked for and the rest is open.
#pragma once

#include "graph/graph.hpp"
#include "plan/data/plan_request.hpp"

namespace spillway {

struct OpenChunk {
  bool parameters, gradients, optimizer, update;
};

struct OpenPlan {
  Plan plan;                      // what is asked for; where that is nothing, all on the device
  std::vector<bool> layers;       // per block: whether its policy is open
  std::vector<OpenChunk> chunks;  // what is open of each
  bool prefetch = true;
  bool norm_is_awaited = true;
};

// Throws std::invalid_argument as make_plan does.
OpenPlan open_plan(Graph const& graph, PlanRequest const& request, bool unified);

}  // namespace spillway
