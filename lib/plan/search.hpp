// Which plans are worth compiling: those that fit by estimate, fastest first.
#pragma once

#include <vector>

#include "plan/activation_mix.hpp"
#include "plan/estimate.hpp"

namespace spillway {

// Estimates that are longer by more belong to plans that are not faster.
inline constexpr double kHopeless = 1.03;

struct Candidate {
  Plan plan;
  double step_s = 0;
  TierBytes peaks{};
  bool wears_too_fast = false;  // writes more to the drive than the budget allows
};

struct SearchResult {
  std::vector<Candidate> fitting;  // the best ones, fastest first
  Candidate leanest;               // of all looked at, the one with the smallest device peak whose
                                   // other needs are met, if any's are
  int looked_at = 0;
};

// Of all tiers but the device, and of all.
bool rest_fits(TierBytes const& peaks, Budgets const& budgets);
bool fits(TierBytes const& peaks, Budgets const& budgets);

// Looks at activations kept up to some layer and, before it, made again, spilled, or both by turns;
// at optimizer state, then parameters, that leave the device from the front or from the back, and
// at how far ahead things are brought. Deterministic.
SearchResult search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets);

}  // namespace spillway
