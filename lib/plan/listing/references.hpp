// Checks that what a Program from a file refers to exists, and that its sizes are possible.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// Throws a Fault unless the Program has the properties that `check_shape` takes for granted: the
// tensors and ops that it refers to exist, its sizes are possible, and the bytes that a step moves
// fit into 63 bits. Programs that this library makes always have these properties.
void check_references(Program const& program);

}  // namespace spillway
