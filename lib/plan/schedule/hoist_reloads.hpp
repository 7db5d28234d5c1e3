// Reloads ahead of their use.
#pragma once

#include "plan/schedule/draft.hpp"

namespace spillway {

// As early as they can come, at most `distance` groups before their own, without raising the peak
// that the Program has anyway.
Reloads hoist_reloads(Draft const& on_demand, int distance);

}  // namespace spillway
