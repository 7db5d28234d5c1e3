#include "plan/plan.hpp"

#include <array>
#include <stdexcept>

namespace spillway {

namespace {
constexpr std::array<std::string_view, 6> kPolicies = {"keep", "light", "recompute",
                                                       "host", "nvme",  "light+nvme"};
}

std::string_view name(Tier tier) {
  constexpr std::string_view names[kTiers] = {"device", "host", "nvme"};
  return names[static_cast<std::size_t>(tier)];
}

std::string_view name(BlockPolicy policy) {
  return kPolicies[static_cast<std::size_t>(policy)];
}

BlockPolicy block_policy(std::string_view text) {
  for (std::size_t i = 0; i < kPolicies.size(); ++i) {
    if (kPolicies[i] == text) return static_cast<BlockPolicy>(i);
  }
  throw std::invalid_argument("'" + std::string(text) +
                              "' is none of keep, light, recompute, host, nvme, light+nvme");
}

}  // namespace spillway
