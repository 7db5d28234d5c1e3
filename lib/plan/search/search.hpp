// The search finds plans that are worth compiling: plans that fit by estimate, fastest first.
#pragma once

#include <vector>

#include "plan/search/candidate.hpp"

namespace spillway {

// A plan whose estimate is longer than another's by more than this factor is not faster in fact.
inline constexpr double kHopeless = 1.03;

struct SearchResult {
  std::vector<Candidate> fitting;  // best first
  Candidate leanest;               // the candidate that lacks fewest bytes, of all looked at
  int looked_at = 0;
};

// Tries plans that keep activations up to some layer, and before that layer make them again, spill
// them, or take turns. Tries plans that move optimizer state, then parameters, from the front or
// from the back, and different numbers of stations to bring things ahead. Deterministic: the same
// question has the same result.
SearchResult search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets);

}  // namespace spillway
