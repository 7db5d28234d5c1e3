// Says what a plan decided against: what it would take if it differed in one choice.
#pragma once

#include <string_view>
#include <vector>

#include "plan/search/alternatives.hpp"

namespace spillway {

// A DecidedPlan is a plan that was chosen, with what comes of it.
struct DecidedPlan {
  Plan const& plan;
  Program const& program;
  double step_s = 0;
};

// The other choice is not searched for: all else is as in the plan. A search that has this choice
// forced may find a better plan.
struct OtherChoice {
  std::string_view words;  // for people, such as "optimizer state on the device"
  std::string_view key;    // the key that forces it, such as "plan.optimizer=device"
  PlanCost cost;
};

// Returns the nearest choices against which the plan of a question decided, of those that the user
// left open, and what the plan would cost without clipping if it were faster then.
// Other plans are compiled and simulated or, if they are long and do not nearly fit, estimated and
// set right by how far the plan's own estimate is off.
std::vector<OtherChoice> why_not(PlanQuestion const& question, DecidedPlan const& decided);

}  // namespace spillway
