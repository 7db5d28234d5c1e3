// Whether what a Program from elsewhere names by number exists, and whether its sizes are possible.
#pragma once

#include <string>

#include "plan/data/program.hpp"

namespace spillway {

// What `check_shape` takes for granted, since whoever makes Programs sees to it: that tensors
// and ops exist that others name, that sizes are sizes, and that 63 bits hold what a step moves.
// The first fault as a line that names where it is; empty: there is none.
std::string wrong_reference(Program const& program);

}  // namespace spillway
