// Tells people what a plan decided against, and what other hardware would buy.
#pragma once

#include <string>
#include <vector>

#include "plan/data/budgets.hpp"
#include "plan/search/alternatives.hpp"
#include "plan/search/what_if.hpp"
#include "plan/search/why_not.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// Returns the lane that is busy longest in a step. The `data` lane, whose work has no costs, does
// not count.
Lane busiest_lane(Simulation const& simulation);

// Returns a line on that lane and a line for each choice against which the plan decided.
std::string why_not_text(std::vector<OtherChoice> const& choices, PlanCost const& chosen,
                         Budgets const& budgets, Simulation const& simulation);

// A ChangedCost is a row of a table of what-if questions.
struct ChangedCost {
  WhatIf change;
  PlanCost cost;
};
// Returns a table that holds what the best plan costs with each change against what it costs now.
// If it does not fit now, the last line names the changes with which it does.
std::string what_if_text(PlanCost const& now, Budgets const& budgets,
                         std::vector<ChangedCost> const& rows, std::string const& micro);

}  // namespace spillway
