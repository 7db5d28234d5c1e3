// An ActivationMix is a way to treat the activations of the layers whose policies are open.
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
  std::size_t kind = 0;  // equal where mixes differ only in the number of layers
};

// Returns the policies that the budgets allow and `open` may need.
std::vector<BlockPolicy> policies_within(OpenPlan const& open, Budgets const& budgets);

// Returns one mix of every kind, without layers yet.
std::vector<ActivationMix> activation_kinds(std::vector<BlockPolicy> const& policies);

// Returns the mix that keeps all on the device, then every kind with several numbers of layers.
std::vector<ActivationMix> activation_mixes(std::vector<BlockPolicy> const& policies, int layers);

// `layers` are the open ones, as numbers of blocks.
void apply(ActivationMix const& mix, IdVector<int> const& layers, Plan& plan);

}  // namespace spillway
