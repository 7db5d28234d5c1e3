// This function tells people how other plans compare with the plan that was chosen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/data/budgets.hpp"
#include "plan/search/alternatives.hpp"

namespace spillway {

// This text says how to ask for the comparison. It is shown if the user has not asked for it.
inline constexpr std::string_view kHowToCompare =
    "\nOther ways, and what 1 GiB more would buy: the same input, keys and --ranks with\n"
    "spillway plan --compare\n";

struct OtherPlans {
  std::vector<Alternative> alternatives;
  std::vector<MoreRoom> more;
  std::vector<Alternative> shardings;
};
// Returns a table that compares the chosen plan with all others.
std::string compare(PlanCost const& chosen, OtherPlans const& others, Budgets const& budgets);

}  // namespace spillway
