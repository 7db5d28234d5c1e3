// A micro-batch's forward pass.
#pragma once

#include <map>
#include <optional>

#include "plan/schedule/draft.hpp"

namespace spillway {

// Forward ops; tensors that leave the device are copied after their last forward use.
void schedule_forward(Draft& draft, bool first);

// An op of what collects over a step's micro-batches, in the form for the first one (overwrite) or
// for another (add); with several micro-batches, one that makes a part of a gradient writes it
// apart, and one that adds such a part (nothing here) is left out. Any other op as it is.
std::optional<int> variant(Draft& draft, int op, bool first);

// The last op of every block in a pass.
using BlockEnds = std::map<int, ItemNumber>;
// What leaves the device, among the items from `first` on, has until the end of the block that runs
// next (`step`: 1 or, in the backward pass, -1) before its bytes are expected to be free.
void set_leaving_horizons(Program& program, ItemNumber first, BlockEnds const& ends, int step);

}  // namespace spillway
