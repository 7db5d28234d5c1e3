// A candidate is a plan with what estimates say of it.
#pragma once

#include <vector>

#include "plan/search/strategy.hpp"

namespace spillway {

// Predicted times that differ by less are not told apart: the plan that moves fewer bytes is
// better.
inline constexpr double kAlike = 0.01;

struct Candidate {
  Plan plan;
  Strategy strategy;  // that makes the plan
  TierBytes peaks{};
  double step_s = 0;             // a lower bound until it is timed
  bool timed = false;            // by an estimate
  std::int64_t moved_bytes = 0;  // between tiers; known when timed
  bool wears_too_fast = false;   // writes more to the drive than the budget allows
};

bool better(Candidate const& a, Candidate const& b);

// Returns a candidate that is not timed yet.
Candidate make_candidate(Strategy const& strategy, StrategySpace const& space);
void take_time(Candidate& candidate, Estimator const& estimator);
// Says whether the plan writes more to the drive than the budget allows. The step's time is
// estimated only where `candidate.step_s` is too short for so many bytes.
bool wears_too_fast(Candidate const& candidate, StrategySpace const& space);

bool fits(TierBytes const& peaks, Budgets const& budgets);
// Looks at all tiers but the device.
bool rest_fits(TierBytes const& peaks, Budgets const& budgets);

// Where estimates of a plan are off by so many bytes, those of plans like it are off by as much:
// these are the budgets for them.
Budgets corrected(Budgets budgets, TierBytes const& off);
// Returns the same with more state moved, and the same with more layers treated, if they fit.
std::vector<Candidate> smaller(Candidate const& candidate, StrategySpace const& space);
// Returns all candidates that are one step away and fit.
std::vector<Candidate> neighbours(Candidate const& candidate, StrategySpace const& space);

}  // namespace spillway
