// When activations that are away come back.
#pragma once

#include "plan/schedule/draft.hpp"

namespace spillway {

// Each at the beginning of its block's group, in order of first use.
Reloads reload_on_demand(Graph const& graph, Fates const& fates);

// As early as they can come, at most `distance` groups before their own, without raising the peak
// that the Program has anyway.
Reloads hoist_reloads(Draft const& on_demand, int distance);

}  // namespace spillway
