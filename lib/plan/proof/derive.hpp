// Derives from the items' accesses what they read and what they must wait for.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// Fills `writers` of every read: the items that last wrote its bytes through the same buffer, in
// any segment and step. `schedule` calls it; a Program made by hand needs it once its items are
// final.
void link(Program& program);

// Sets the waits that the items' accesses need, without those that others imply.
void derive_waits(Program& program);

}  // namespace spillway
