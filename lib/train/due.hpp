// When a run evaluates and when it saves, by steps done and by seconds. Pure functions.
#pragma once

#include <cstdint>

#include "config/config.hpp"

namespace spillway {

// A run evaluates every so many steps, and after its last one.
constexpr bool evaluation_is_due(RunConfig const& run, std::int64_t steps) {
  return steps == run.steps || (run.eval_every > 0 && steps % run.eval_every == 0);
}

// A checkpoint is written every so many steps. The one behind the last step is not asked for here.
constexpr bool save_is_due_by_step(CheckpointConfig const& policy, std::int64_t steps) {
  return policy.every > 0 && steps % policy.every == 0;
}

// A checkpoint is also written so long after the one before, which was written `since_s` ago.
constexpr bool save_is_due_by_time(CheckpointConfig const& policy, double since_s) {
  return policy.minutes && since_s > 60 * *policy.minutes;
}

// Returns whether a checkpoint may be due once the next turn is done, which takes `turn_s`.
constexpr bool save_may_be_next(CheckpointConfig const& policy, std::int64_t steps, double since_s,
                                double turn_s) {
  return save_is_due_by_step(policy, steps + 1) || save_is_due_by_time(policy, since_s + turn_s);
}

}  // namespace spillway
