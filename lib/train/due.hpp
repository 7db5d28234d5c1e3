// Pure functions that say when a run evaluates and when it writes a checkpoint.
#pragma once

#include <cstdint>

#include "config/config.hpp"

namespace spillway {

// Returns whether a run evaluates after `steps` steps: every eval_every steps, and after the last.
constexpr bool evaluation_is_due(RunConfig const& run, std::int64_t steps) {
  return steps == run.steps || (run.eval_every > 0 && steps % run.eval_every == 0);
}

// Returns whether `every` asks for a checkpoint. The one after the last step is not asked for here.
constexpr bool save_is_due_by_step(CheckpointConfig const& policy, std::int64_t steps) {
  return policy.every > 0 && steps % policy.every == 0;
}

// Returns whether `minutes` asks for a checkpoint, if the last one was written `since_s` ago.
constexpr bool save_is_due_by_time(CheckpointConfig const& policy, double since_s) {
  return policy.minutes && since_s > 60 * *policy.minutes;
}

// Returns whether a checkpoint may be due after the next step and evaluation, which take `turn_s`.
constexpr bool save_may_be_next(CheckpointConfig const& policy, std::int64_t steps, double since_s,
                                double turn_s) {
  return save_is_due_by_step(policy, steps + 1) || save_is_due_by_time(policy, since_s + turn_s);
}

}  // namespace spillway
