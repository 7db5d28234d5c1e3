// Here is what the user asks of a plan, and what that leaves open for the search to decide.
#pragma once

#include "plan/data/plan.hpp"

namespace spillway {

inline constexpr int kShortestPrefetch = 1;

struct PlanRequest : AskedPlan {
  // Updates wait for the gradient's norm, to clip by it or to skip a step that is not finite.
  bool norm_is_awaited = true;
};

// Makes the Plan without a search. Of what is asked as `auto`,
//   - activations get the policy `automatic`;
//   - parameters, gradients and optimizer state lie on the device;
//   - updates run where the optimizer state is: on the host lane unless it is on the device;
//   - `prefetch` is the shortest.
// The Plan is normal. Throws std::invalid_argument, which names the key and the lengths, for a list
// that is empty or longer than there are layers (chunks).
Plan make_plan(Graph const& graph, PlanRequest const& request,
               BlockPolicy automatic = BlockPolicy::keep);

struct OpenChunk {
  bool parameters, gradients, optimizer, update;
};

struct OpenPlan {
  Plan plan;                   // what make_plan gives
  IdVector<bool> layers;       // per block: whether its policy is open
  IdVector<OpenChunk> chunks;  // what is open of each
  bool prefetch = true;
  bool norm_is_awaited = true;
};

// Throws std::invalid_argument as make_plan does.
OpenPlan open_plan(Graph const& graph, PlanRequest const& request, bool unified);

}  // namespace spillway
