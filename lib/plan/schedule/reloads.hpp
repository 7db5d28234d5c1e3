// Spilled activations come back as early as memory allows.
#pragma once

#include "plan/schedule/program_sink.hpp"

namespace spillway {

// Moves the shape's reloads to places as early as possible. A reload moves by at most
// `plan.prefetch` groups, and the peak of bytes does not become higher than that of `on_demand`,
// the draft with the shape's reloads as they are.
Reloads hoist_reloads(GraphShape const& shape, Draft const& on_demand);

}  // namespace spillway
