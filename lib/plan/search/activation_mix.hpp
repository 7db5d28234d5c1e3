// An ActivationMix says how to treat the activations of layers whose policies the user left open.
#pragma once

#include <vector>

#include "plan/data/budgets.hpp"
#include "plan/data/open_plan.hpp"

namespace spillway {

// The first `layers` of the open layers, or the last ones, follow the policies `main` and `other`,
// and `share` is the fraction of them that follow `main`. All other open layers follow `base`.
struct ActivationMix {
  BlockPolicy main = BlockPolicy::keep, other = BlockPolicy::keep, base = BlockPolicy::keep;
  double share = 1, fraction = 1;
  int layers = 0;
  bool from_back = false;
  std::size_t kind = 0;  // mixes of one kind differ only in `layers` and `from_back`
};

// Returns all policies that blocks may get when a search within the budgets decides what is open.
std::vector<BlockPolicy> policies_within(OpenPlan const& open, Budgets const& budgets);

// Returns all ways to treat a layer's activations that follow from these policies.
std::vector<BlockPlan> ways_to_treat(OpenPlan const& open, Budgets const& budgets);

// Returns one mix of each kind that can be made from the policies. These mixes have 0 layers.
std::vector<ActivationMix> activation_kinds(std::vector<BlockPolicy> const& policies);

// Returns the mix that keeps all activations, and each kind of mix with several values of `layers`.
std::vector<ActivationMix> activation_mixes(std::vector<BlockPolicy> const& policies, int layers);

// Writes the policies of the mix into the Plan. `layers` holds the open layers' block numbers.
void apply(ActivationMix const& mix, IdVector<int> const& layers, Plan& plan);

}  // namespace spillway
