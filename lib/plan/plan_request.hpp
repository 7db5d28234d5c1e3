// What the user asks of a Plan, and the Plan that it makes where nothing is searched for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "plan/plan.hpp"

namespace spillway {

inline constexpr int kShortestPrefetch = 1;

// The `plan` section of the input file. Lists are per layer (activations) and per chunk, in order;
// the last entry repeats; "auto" may stand anywhere.
struct PlanRequest {
  std::vector<std::string> activations = {"auto"};
  std::vector<std::string> parameters = {"auto"}, gradients = {"auto"}, optimizer = {"auto"};
  std::vector<std::string> update = {"auto"};
  std::optional<int> prefetch = {};  // empty: what the Machine's links ask for
  bool norm_is_awaited = true;  // by updates: for clipping, or to skip a step that is not finite
};

// `automatic` stands for "auto" in `activations`; elsewhere that is the device, but updates of
// chunks whose optimizer state is not there run on the host lane, beside the next forward, or
// beside the backward pass where they need not wait for the norm.
// A `prefetch` that is empty becomes 1.
// Throws std::invalid_argument, naming the word, for what is no policy or place, and naming the
// lengths for a list that is longer than there are layers (chunks).
Plan make_plan(Graph const& graph, PlanRequest const& request, BlockPolicy automatic);

}  // namespace spillway
