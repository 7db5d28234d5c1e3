// These functions decide when spilled activations come back.
#pragma once

#include "plan/schedule/draft.hpp"

namespace spillway {

// Puts every reload at the beginning of its block's group, in the order of first use.
Reloads reload_on_demand(Graph const& graph, Fates const& fates);

// Moves the same reloads to places as early as possible. A reload moves by at most `distance`
// groups, and the peak of bytes does not become higher than that of `on_demand`.
Reloads hoist_reloads(Draft const& on_demand, int distance);

}  // namespace spillway
