// Lets lanes of a warp wait for each other.
#pragma once

#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

// `come` are the lanes that have come. Returns those of them whose member masks, in the register at
// `members`, name only lanes that have come or have ended. Complains if masks do not agree.
Lanes complete_lanes(Warp const& warp, Slot members, Lanes come);

// Lets each of these lanes know from now on what any of them has done.
void meet(Warp& warp, Lanes lanes);

}  // namespace spillway::test::ptx
