// When a run must stop so that it ends within its limit.
#pragma once

namespace spillway {

struct TimeAhead {
  double elapsed_s;          // since the run began
  double longest_turn_s;     // a turn is a step with its evaluation
  double save_s;             // of a checkpoint
  bool may_save_after_next;  // one is due after the next turn
};

// A run that is not stopped now stops only after two more turns: a checkpoint may follow the next
// one, and the last checkpoint follows the one after it.
constexpr bool must_stop(TimeAhead const& time, double limit_s) {
  double const saves_s = (time.may_save_after_next ? 2 : 1) * time.save_s;
  return time.elapsed_s + 2 * time.longest_turn_s + saves_s > limit_s;
}

}  // namespace spillway
