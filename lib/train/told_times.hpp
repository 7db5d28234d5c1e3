// Replaces the measured times that the re-planner sees, so that tests of it need no slow drive.
#pragma once

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

// Returns the result with simulated times: those of a step on `machine` if its drive were slower by
// the factor kToldSlowness.
StepResult told_of_slow_drive(StepResult result, Program const& program, Machine machine);
inline constexpr double kToldSlowness = 1e5;  // docs/keys.md has this number too

}  // namespace spillway
