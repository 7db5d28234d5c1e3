#include "plan/search/activation_mix.hpp"

#include <algorithm>
#include <cmath>

namespace spillway {

std::vector<ActivationMix> activation_kinds(std::vector<BlockPolicy> const& policies) {
  using enum BlockPolicy;
  std::vector<ActivationMix> result;
  for (BlockPolicy const policy :
       {light, recompute, host, nvme, light_host, light_nvme, recompute_host, recompute_nvme}) {
    if (std::ranges::count(policies, policy) == 0) continue;
    result.push_back({policy, policy, keep});
    if (policy != light) result.push_back({policy, policy, light});
    if (!away_tier(policy)) continue;
    result.push_back({policy, policy, keep, 1, 0.5});
    for (BlockPolicy const other : {recompute, light}) {
      if (other == light && staying(policy) == recompute) continue;
      for (double const share : {0.75, 0.5, 0.25}) result.push_back({policy, other, keep, share});
    }
  }
  for (std::size_t kind = 1; ActivationMix & mix : result) mix.kind = kind++;
  return result;
}

std::vector<BlockPolicy> policies_within(OpenPlan const& open, Budgets const& budgets) {
  std::vector<BlockPolicy> result = {BlockPolicy::keep};
  auto const add = [&](BlockPolicy policy) {
    if (std::ranges::count(result, policy) == 0) result.push_back(policy);
  };
  for (BlockPlan const& block : open.plan.blocks) {
    add(block.policy);
    add(staying(block.policy));
  }
  if (std::ranges::count(open.layers, true) == 0) return result;
  for (PolicyRow const& row : kPolicyTable) {
    if (allows(budgets, row.policy)) add(row.policy);
  }
  return result;
}

std::vector<BlockPlan> ways_to_treat(OpenPlan const& open, Budgets const& budgets) {
  std::vector<BlockPlan> result;
  for (BlockPolicy const policy : policies_within(open, budgets)) {
    for (double const fraction : {1.0, 0.5})
      if (fraction == 1 || away_tier(policy)) result.push_back({policy, fraction});
  }
  return result;
}

std::vector<ActivationMix> activation_mixes(std::vector<BlockPolicy> const& policies, int layers) {
  std::vector<ActivationMix> result = {{}};
  int const step = std::max(1, layers / 9);
  for (ActivationMix mix : activation_kinds(policies)) {
    for (mix.layers = layers; mix.layers > 0; mix.layers -= step) result.push_back(mix);
  }
  return result;
}

void apply(ActivationMix const& mix, IdVector<int> const& layers, Plan& plan) {
  int const count = static_cast<int>(layers.size());
  for (int i = 0; i < count; ++i) {
    bool const is_main = std::ceil((i + 1) * mix.share) > std::ceil(i * mix.share);
    BlockPlan block{mix.base, 1};
    if (i < mix.layers) block.policy = is_main ? mix.main : mix.other;
    if (i < mix.layers && away_tier(block.policy)) block.fraction = mix.fraction;
    plan.blocks[layers[mix.from_back ? count - 1 - i : i]] = block;
  }
}

}  // namespace spillway
