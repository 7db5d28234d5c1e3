// Ways to treat the activations of the layers whose policies are open.
#pragma once

#include <vector>

#include "plan/data/budgets.hpp"
#include "plan/data/open_plan.hpp"

namespace spillway {

// Of the open layers, the first (or last) `layers` follow `main` and `other` by turns, `share` of
// them `main`; the rest follow `base`.
struct ActivationMix {
  BlockPolicy main = BlockPolicy::keep, other = BlockPolicy::keep, base = BlockPolicy::keep;
  double share = 1, fraction = 1;
  int layers = 0;
  bool from_back = false;
  std::size_t kind = 0;  // alike but for the number of layers
};

// Policies that the budgets allow and `open` may need.
std::vector<BlockPolicy> policies_within(OpenPlan const& open, Budgets const& budgets);

// One of every kind, for no layer yet.
std::vector<ActivationMix> activation_kinds(std::vector<BlockPolicy> const& policies);

// Of every kind some numbers of layers; all on the device first.
std::vector<ActivationMix> activation_mixes(std::vector<BlockPolicy> const& policies, int layers);

// `layers`: the open ones, as numbers of blocks.
void apply(ActivationMix const& mix, std::vector<std::size_t> const& layers, Plan& plan);

}  // namespace spillway
