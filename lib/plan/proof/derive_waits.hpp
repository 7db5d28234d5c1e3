// What items wait for.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// Sets the waits that the items' accesses need, and no more than clocks do not already give.
void derive_waits(Program& program);

}  // namespace spillway
