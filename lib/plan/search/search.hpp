// The search finds plans that are worth compiling: plans that fit by estimate, fastest first.
#pragma once

#include <limits>
#include <vector>

#include "plan/search/candidate.hpp"

namespace spillway {

// A plan is taken to be slower than another if its estimated time is longer by this factor.
inline constexpr double kHopeless = 1.03;

struct SearchResult {
  std::vector<Candidate> fitting;  // candidates that fit, the best one first
  std::vector<Candidate> leanest;  // those that exceed the budgets by the fewest bytes, least first
  int estimated = 0;
};

// Tries plans whose layers keep, recompute or spill activations in various mixtures, and plans that
// move optimizer state, then parameters, off the device. Plans also differ in how many stations
// ahead tensors are brought, and in how many micro-batches walk together. Leaves out plans that are
// hopeless beside one that takes `best_s`. Corrects estimates of times by `errors`. The same
// arguments always have the same result.
SearchResult search(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets,
                    KindErrors const& errors = {},
                    double best_s = std::numeric_limits<double>::infinity());

}  // namespace spillway
