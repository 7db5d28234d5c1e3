// Names the keys of budgets.
#pragma once

#include <string_view>

#include "config/tier.hpp"

namespace spillway {

// Returns the key of a tier's budget, as it can be given on the command line.
constexpr std::string_view budget_key(Tier tier) {
  if (tier == Tier::nvme) return "memory.nvme.size";
  return tier == Tier::host ? "memory.host" : "memory.device";
}

}  // namespace spillway
