// Reads lists of budgets to plan with, such as "device=8,12,16GiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/tier.hpp"

namespace spillway {

struct BudgetList {
  Tier tier = Tier::device;
  struct Value {
    std::string text;                   // as the key takes it, such as "12GiB" or "none"
    std::optional<std::int64_t> bytes;  // no value if the text is "auto"
  };
  std::vector<Value> values;
};

// Reads TIER=LIST. The last unit of the list holds for all numbers that have none. Throws
// Error(bad_input) if the text is no such list or has a value twice.
BudgetList budget_list(std::string const& text);

}  // namespace spillway
