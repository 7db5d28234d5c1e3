// Lanes of a warp that wait for each other.
#pragma once

#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

// Of lanes that have come, those whose member masks are complete: whom a mask names has come or has
// ended. Complains about masks that do not agree.
Lanes complete_lanes(Warp const& warp, Slot members, Lanes come);

// Each of these lanes knows from now on what any of them has done.
void meet(Warp& warp, Lanes lanes);

}  // namespace spillway::test::ptx
