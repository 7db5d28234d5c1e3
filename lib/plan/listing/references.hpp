// Checks that what a Program from elsewhere names by number exists, and that sizes are possible.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// Throws a Fault unless all holds that `check_shape` takes for granted, since whoever makes
// Programs sees to it: that tensors and ops exist that others name, that sizes are sizes, and that
// 63 bits hold what a step moves.
void check_references(Program const& program);

}  // namespace spillway
