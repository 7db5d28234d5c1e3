// These functions decide when activations that are away come back.
#pragma once

#include "plan/schedule/draft.hpp"

namespace spillway {

// Every reload stands at the beginning of its block's group, in the order of first use.
Reloads reload_on_demand(Graph const& graph, Fates const& fates);

// The same reloads come as early as possible: at most `distance` groups before their own, and
// without a higher peak than `on_demand` has.
Reloads hoist_reloads(Draft const& on_demand, int distance);

}  // namespace spillway
