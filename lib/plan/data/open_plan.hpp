// A PlanRequest says what the user asks of a plan. An OpenPlan says what the search must decide.
#pragma once

#include <cstdint>
#include <optional>

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
//   - ranks share out nothing, and would do so all together;
//   - `prefetch` is kShortestPrefetch, and `group` is 1.
// The Plan is normal. Throws std::invalid_argument, which names the key and the lengths, for a list
// that is empty or has more entries than there are layers or chunks.
Plan make_plan(Graph const& graph, PlanRequest const& request,
               BlockPolicy automatic = BlockPolicy::keep);

struct OpenChunk {
  bool parameters, gradients, optimizer, update, shard;
};

struct OpenPlan {
  Plan plan;                           // the Plan that make_plan returns
  IdVector<bool> layers;               // true for each block whose policy the search decides
  IdVector<OpenChunk> chunks;          // what the search decides about each chunk
  bool prefetch = true, group = true;  // whether the search decides these
  bool norm_is_awaited = true;
  std::optional<std::int64_t> early = {};  // what Plan::early shall be, or the search decides
  std::int64_t most_group = 16;  // the search tries no more micro-batches that walk together
  bool sums_on_drive = false;    // whether the search puts gradients on the drive, too
};

// Finds out what the search must decide. Throws std::invalid_argument like make_plan.
OpenPlan open_plan(Graph const& graph, PlanRequest const& request, bool unified);

}  // namespace spillway
