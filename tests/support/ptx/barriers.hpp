// Implements bar.sync, by which the warps of a block wait for each other.
#pragma once

#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

// Lets a warp wait at a barrier. The registers at these slots hold the barrier's number and how
// many threads must come; if `threads` is kZeros, all threads of the block must.
void arrive(Warp& warp, Slot barrier, Slot threads);

// If all warps have come for which this warp waits, lets them go on and returns true.
bool pass_with(Block& block, Warp const& warp);

// Complains if a warp still waits, which no warp of the block can end any more.
void need_no_waiting(Block const& block);

// Begins the first epoch of a block (stamp.hpp) for all of its warps.
void begin_epochs(Block& block);

}  // namespace spillway::test::ptx
