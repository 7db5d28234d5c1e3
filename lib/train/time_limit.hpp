// Decides when a run must stop so that it ends within its time limit.
#pragma once

namespace spillway {

struct TimeAhead {
  double elapsed_s;          // since the run began
  double longest_turn_s;     // a turn is a step with its evaluation
  double save_s;             // how long a checkpoint takes
  bool may_save_after_next;  // a checkpoint may be due after the next turn
};

// This is asked before each turn. If the run is not to stop after the coming turn, it can stop only
// after the turn behind that. A checkpoint may be due after the first of these two turns, and the
// last checkpoint comes after the second.
constexpr bool must_stop(TimeAhead const& time, double limit_s) {
  double const saves_s = (time.may_save_after_next ? 2 : 1) * time.save_s;
  return time.elapsed_s + 2 * time.longest_turn_s + saves_s > limit_s;
}

}  // namespace spillway
