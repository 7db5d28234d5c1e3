// Other plans beside the one that was chosen, for a person.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/data/budgets.hpp"
#include "plan/search/alternatives.hpp"

namespace spillway {

// Where none of it was asked for.
inline constexpr std::string_view kHowToCompare =
    "\nOther ways, and what 1 GiB more would buy: the same input, keys and --ranks with\n"
    "spillway plan --compare\n";

struct OtherPlans {
  std::vector<Alternative> alternatives;
  std::vector<MoreRoom> more;
  std::vector<Alternative> shardings;
};
// A table of all of them.
std::string compare(PlanCost const& chosen, OtherPlans const& others, Budgets const& budgets);

}  // namespace spillway
