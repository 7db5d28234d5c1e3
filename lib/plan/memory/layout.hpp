// A layout gives every buffer its offset in the arena of its tier.
#pragma once

#include <span>

#include "plan/data/program.hpp"

namespace spillway {

// Gives all programs the same layout of persistent state and, behind it, one region that their
// transient buffers share. Sets peak_bytes of every program to the highest peak of any program.
void layout(std::span<Program*> programs);

}  // namespace spillway
