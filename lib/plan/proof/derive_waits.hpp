// Finds what items must wait for.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// Sets the waits that the items' accesses need, without those that others imply.
void derive_waits(Program& program);

}  // namespace spillway
