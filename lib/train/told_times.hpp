// Replaces measured times that decide something between steps, so that tests need no slow drive and
// no slow rank.
#pragma once

#include <span>

#include "comm/rank_wait.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

// Returns the result with simulated times: those of a step on `machine` if its drive were slower by
// the factor kToldSlowness.
StepResult told_of_slow_drive(StepResult result, Program const& program, Machine machine);
inline constexpr double kToldSlowness = 1e5;  // docs/keys.md has this number too

// Returns the result as that of a step of kToldStepSeconds, in half of which all ranks wait for the
// last one, if that is slow, or in which no rank waits for another. `waits`, of as many elements as
// there are ranks, must outlive the result.
StepResult told_of_rank(StepResult result, bool is_slow, std::span<MutualWait> waits);
inline constexpr double kToldStepSeconds = 20;  // docs/keys.md has this number too

}  // namespace spillway
