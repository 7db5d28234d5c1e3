// Times that re-plans are told instead of measured ones, so that tests of them need no slow drive.
#pragma once

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

// Returns the result with the times that the step would have taken on `machine` with a drive of
// 1 / kToldSlowness of its rate, as they are simulated.
StepResult told_of_slow_drive(StepResult result, Program const& program, Machine machine);
inline constexpr double kToldSlowness = 1e5;  // as docs/keys.md says

}  // namespace spillway
