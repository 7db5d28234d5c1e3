// An ActivationMix says how to treat the activations of layers whose policies the user left open.
#pragma once

#include <vector>

#include "plan/data/budgets.hpp"
#include "plan/data/open_plan.hpp"

namespace spillway {

// The first (or last) `layers` of the open layers follow `main` and `other` in turn, so that `main`
// gets a fraction of `share`. The remaining open layers follow `base`.
struct ActivationMix {
  BlockPolicy main = BlockPolicy::keep, other = BlockPolicy::keep, base = BlockPolicy::keep;
  double share = 1, fraction = 1;
  int layers = 0;
  bool from_back = false;
  std::size_t kind = 0;  // the same for mixes that differ only in `layers`
};

// Returns the policies that the budgets allow and that `open` may need.
std::vector<BlockPolicy> policies_within(OpenPlan const& open, Budgets const& budgets);

// Returns one mix of every kind, with 0 layers.
std::vector<ActivationMix> activation_kinds(std::vector<BlockPolicy> const& policies);

// Returns the mix that keeps everything, then each kind with several numbers of layers.
std::vector<ActivationMix> activation_mixes(std::vector<BlockPolicy> const& policies, int layers);

// Writes the mix into the Plan. `layers` lists the block numbers of the open layers.
void apply(ActivationMix const& mix, IdVector<int> const& layers, Plan& plan);

}  // namespace spillway
