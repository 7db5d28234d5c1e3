#include "plan/search/activation_mix.hpp"

#include <algorithm>
#include <cmath>

namespace spillway {

std::vector<ActivationMix> activation_kinds(std::vector<BlockPolicy> const& policies) {
  using enum BlockPolicy;
  std::vector<ActivationMix> result;
  auto const may = [&](BlockPolicy policy) { return std::ranges::count(policies, policy) > 0; };
  for (BlockPolicy const policy : {light, recompute, host, nvme, light_host, light_nvme}) {
    if (!may(policy)) continue;
    result.push_back({policy, policy, keep});
    if (policy != light) result.push_back({policy, policy, light});
    if (!away_tier(policy)) continue;
    result.push_back({policy, policy, keep, 1, 0.5});
    for (BlockPolicy const other : {recompute, light}) {
      for (double const share : {0.75, 0.5, 0.25}) result.push_back({policy, other, keep, share});
    }
  }
  for (std::size_t i = 0; i < result.size(); ++i) result[i].kind = i + 1;
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
  for (int p = 0; p < kPolicies; ++p) {
    auto const policy = static_cast<BlockPolicy>(p);
    if (allows(budgets, policy)) add(policy);
  }
  return result;
}

std::vector<ActivationMix> activation_mixes(std::vector<BlockPolicy> const& policies, int layers) {
  constexpr int numbers = 9;  // of layers, about
  std::vector<ActivationMix> result = {{}};
  int const step = std::max(1, layers / numbers);
  for (ActivationMix mix : activation_kinds(policies)) {
    for (mix.layers = layers; mix.layers > 0; mix.layers -= step) result.push_back(mix);
  }
  return result;
}

void apply(ActivationMix const& mix, std::vector<std::size_t> const& layers, Plan& plan) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    auto const turn = static_cast<double>(i);
    bool const is_main = std::ceil((turn + 1) * mix.share) > std::ceil(turn * mix.share);
    auto const policy = is_main ? mix.main : mix.other;
    bool const chosen = static_cast<int>(i) < mix.layers;
    auto const block = layers[mix.from_back ? layers.size() - 1 - i : i];
    plan.blocks[block] = {chosen ? policy : mix.base,
                          chosen && away_tier(policy) ? mix.fraction : 1};
  }
}

}  // namespace spillway
