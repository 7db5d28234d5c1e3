// Gives every buffer its offset in the arena of its tier.
#pragma once

#include <span>

#include "plan/data/program.hpp"

namespace spillway {

// All programs share one layout of the persistent state and, behind it, one region for what is
// transient. Every program's peak_bytes become the maximum of all.
void layout(std::span<Program*> programs);

}  // namespace spillway
