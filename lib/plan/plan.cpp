#include "plan/plan.hpp"

#include <array>
#include <stdexcept>

namespace spillway {

namespace {

struct PolicyRow {
  std::string_view name;
  bool light;
  std::optional<Tier> away;
};
// In the order of BlockPolicy.
constexpr std::array kPolicyRows = {
    PolicyRow{"keep", false, {}},
    PolicyRow{"light", true, {}},
    PolicyRow{"recompute", false, {}},
    PolicyRow{"host", false, Tier::host},
    PolicyRow{"nvme", false, Tier::nvme},
    PolicyRow{"light+host", true, Tier::host},
    PolicyRow{"light+nvme", true, Tier::nvme},
};

PolicyRow const& row(BlockPolicy policy) {
  return kPolicyRows[index(policy)];
}

}  // namespace

std::string_view name(Tier tier) {
  constexpr std::string_view names[kTiers] = {"device", "host", "nvme"};
  return names[index(tier)];
}

std::string_view name(BlockPolicy policy) {
  return row(policy).name;
}

std::optional<Tier> away_tier(BlockPolicy policy) {
  return row(policy).away;
}

bool is_light(BlockPolicy policy) {
  return row(policy).light;
}

BlockPolicy staying(BlockPolicy policy) {
  if (!away_tier(policy)) return policy;
  return is_light(policy) ? BlockPolicy::light : BlockPolicy::keep;
}

BlockPolicy block_policy(std::string_view text) {
  std::string names;
  for (std::size_t i = 0; i < kPolicyRows.size(); ++i) {
    if (kPolicyRows[i].name == text) return static_cast<BlockPolicy>(i);
    names += (i == 0 ? "" : ", ") + std::string(kPolicyRows[i].name);
  }
  throw std::invalid_argument("'" + std::string(text) + "' is none of " + names);
}

}  // namespace spillway
