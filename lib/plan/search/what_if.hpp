// Says what other hardware, or no clipping, would change about a run's best plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/search/alternatives.hpp"

namespace spillway {

// A WhatIf is a question that differs from a given one in one thing. Its own machine and budgets
// live in it.
struct WhatIf {
  std::string_view name;  // for programs, such as "one_more_drive"
  std::string words;      // for people
  Budgets budgets;
  Machine machine;
  bool norm_is_awaited = true;
};

// Returns the changes that may help: twice the device's memory, twice the host memory, one more
// drive, twice the rates of all links, and no clipping. What the machine does not have, or what the
// user does not ask for, is left out.
std::vector<WhatIf> what_ifs(PlanQuestion const& question);

// Returns what the best plan costs with the change, if `now` is the best one without it. It is
// never slower than what there is. This takes one search.
PlanCost cost_with(PlanQuestion const& question, CostedPlan const& now, WhatIf const& change);

}  // namespace spillway
