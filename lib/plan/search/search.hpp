// The search finds plans that are worth compiling: those that fit by estimate, fastest first.
#pragma once

#include <vector>

#include "plan/search/candidate.hpp"

namespace spillway {

// An estimate that is longer than another by more belongs to a plan that is not faster.
inline constexpr double kHopeless = 1.03;

struct SearchResult {
  std::vector<Candidate> fitting;  // the best ones, best first
  Candidate leanest;               // of all looked at, the one that lacks fewest bytes
  int looked_at = 0;
};

// Looks at activations kept up to some layer and, before it, made again, spilled, or both by turns;
// at optimizer state, then parameters, that leave the device from the front or from the back; and
// at how far ahead things are brought. Deterministic.
SearchResult search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets);

}  // namespace spillway
