// Spilled activations are reloaded as early as the memory of the device allows.
#pragma once

#include "plan/schedule/program_sink.hpp"

namespace spillway {

// Moves reloads of the shape to where they come as early as possible: at most `plan.prefetch`
// stations earlier, and not so early that the peak of bytes on the device would rise above the peak
// of `on_demand`, which is the draft with the reloads where they were.
void hoist_reloads(GraphShape& shape, Draft const& on_demand);

}  // namespace spillway
