// Finds which items every read expects to have written its bytes.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// Fills `writers` of every read: the items that last wrote its bytes through the same buffer, in
// any segment and step. `schedule` calls it; a Program made by hand needs it once its items are
// final.
void link(Program& program);

}  // namespace spillway
