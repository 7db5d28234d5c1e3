// bar.sync: warps of a block that wait for each other.
#pragma once

#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

// A warp waits at the barrier of a number, for a number of threads; all of its block if `threads`
// is kZeros. Both are registers.
void arrive(Warp& warp, Slot barrier, Slot threads);

// Whether all have come for whom this warp waits; then they are no longer at the barrier.
bool pass_with(Block& block, Warp const& warp);

// Says why no warp of the block can go on, if any waits.
void need_no_waiting(Block const& block);

// All warps of a block begin.
void begin_epochs(Block& block);

}  // namespace spillway::test::ptx
