// Declares what the user asks of a plan, and what remains open for the search to decide.
#pragma once

#include "plan/data/plan.hpp"

namespace spillway {

inline constexpr int kShortestPrefetch = 1;

struct PlanRequest : AskedPlan {
  // If true, updates wait for the gradient's norm, which is needed to clip the gradient or to skip
  // a step whose gradient is not finite.
  bool norm_is_awaited = true;
};

// Makes the Plan without a search. Where the user asks for `auto`,
//   - activations get the policy `automatic`;
//   - parameters, gradients and optimizer state lie on the device;
//   - updates run on the host lane unless the optimizer state is on the device;
//   - `prefetch` is kShortestPrefetch.
// The Plan is normal. Throws std::invalid_argument, which names the key and the lengths, for a list
// that is empty or has more entries than there are layers or chunks.
Plan make_plan(Graph const& graph, PlanRequest const& request,
               BlockPolicy automatic = BlockPolicy::keep);

struct OpenChunk {
  bool parameters, gradients, optimizer, update;
};

struct OpenPlan {
  Plan plan;                   // the result of make_plan
  IdVector<bool> layers;       // for each block: whether the search decides its policy
  IdVector<OpenChunk> chunks;  // for each chunk: what the search decides
  bool prefetch = true;
  bool norm_is_awaited = true;
};

// Throws std::invalid_argument in the same cases as make_plan.
OpenPlan open_plan(Graph const& graph, PlanRequest const& request, bool unified);

}  // namespace spillway
