// When a run evaluates and when it saves, by steps done and by seconds. Pure functions.
#pragma once

#include <cstdint>

#include "config/config.hpp"

namespace spillway {

// Every so many steps, and at the last one.
constexpr bool evaluation_is_due(RunConfig const& run, std::int64_t steps) {
  return steps == run.steps || (run.eval_every > 0 && steps % run.eval_every == 0);
}

// By their number; the last step's checkpoint is another matter.
constexpr bool save_is_due(CheckpointConfig const& policy, std::int64_t steps) {
  return policy.every > 0 && steps % policy.every == 0;
}

// So long after the last one was written.
constexpr bool save_is_late(CheckpointConfig const& policy, double since_s) {
  return policy.minutes && since_s > 60 * *policy.minutes;
}

// Whether one may be due when the next turn, which takes `turn_s`, is done.
constexpr bool save_may_be_next(CheckpointConfig const& policy, std::int64_t steps, double since_s,
                                double turn_s) {
  return save_is_due(policy, steps + 1) || save_is_late(policy, since_s + turn_s);
}

}  // namespace spillway
