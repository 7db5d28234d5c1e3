// Spilled activations are reloaded as early as the memory of the device allows.
#pragma once

#include "plan/schedule/program_sink.hpp"

namespace spillway {

// Returns reloads that come as early as possible: at most `plan.prefetch` groups earlier than the
// reloads of the shape, and not so early that the peak of bytes on the device would rise above the
// peak of `on_demand`, which is the draft with the reloads of the shape.
Reloads hoist_reloads(GraphShape const& shape, Draft const& on_demand);

}  // namespace spillway
