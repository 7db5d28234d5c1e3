// A StepBound is a time that no plan of a training step can be faster than.
#pragma once

#include <string>

#include "plan/bound/bound_rows.hpp"

namespace spillway {

// A BoundGap says what the time consists of by which a plan's step is longer than the bound.
struct BoundGap {
  double places_s = 0;       // the bound is so much more for plans with the same places of chunks,
  double activations_s = 0;  // and so much more than that if they also treat activations alike
  double waits_s = 0;        // what is left: waits of lanes for each other, and what nobody proves
};

struct StepBound {
  double step_s = 0;
  std::string limit;  // what makes out most of the bound, in words for a person
  BoundGap gap = {};
};

// Returns a proved lower bound of the time that a step takes in the steady state, for any plan at
// equal Arithmetic within the budgets, whether or not `solve` would look at it. A plan may treat
// every part of a tensor differently, keep it anywhere between its uses or make it again, move it
// at any time, sum and update on any lane, and let micro-batches walk in any order. What it may not
// do is run passes elsewhere than on the compute lane, or a micro-batch's blocks in another order.
// The bound is a linear programme's, by its dual solution.
StepBound step_bound(BoundQuestion const& question);

// Returns the same bound, with the gap that a plan has whose step takes `step_s`.
StepBound step_bound(BoundQuestion question, Plan const& plan, double step_s);

}  // namespace spillway
