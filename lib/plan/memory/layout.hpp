// Where buffers lie.
#pragma once

#include <span>

#include "plan/data/program.hpp"

namespace spillway {

// Lifetimes -> offsets. All programs share one layout of the persistent state and one transient
// region; sets every program's peak_bytes to the common maximum.
void layout(std::span<Program*> programs);

}  // namespace spillway
