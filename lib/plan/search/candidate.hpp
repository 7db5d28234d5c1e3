// A candidate is a plan together with its estimates.
#pragma once

#include <vector>

#include "plan/search/strategy.hpp"

namespace spillway {

// If predicted times differ by a smaller fraction than this, the plan that moves less is better.
inline constexpr double kAlike = 0.01;

struct Candidate {
  Plan plan;
  Strategy strategy;  // the strategy that makes the plan
  TierBytes peaks{};
  double step_s = 0;             // the time of a step; a lower bound until `timed`
  bool timed = false;            // true once the step's time was estimated
  std::int64_t moved_bytes = 0;  // bytes moved between tiers; known once `timed`
  bool wears_too_fast = false;   // true if the plan writes more to the drive than the budget allows
};

bool better(Candidate const& a, Candidate const& b);

// Makes a candidate that is not timed yet.
Candidate make_candidate(Strategy const& strategy, StrategySpace const& space);
void take_time(Candidate& candidate, Estimator const& estimator);
// Says whether the plan writes more to the drive than the budget allows. The step's time is
// estimated only if the lower bound `candidate.step_s` does not already allow the bytes.
bool wears_too_fast(Candidate const& candidate, StrategySpace const& space);

bool fits(TierBytes const& peaks, Budgets const& budgets);
// Says whether all tiers but the device fit.
bool rest_fits(TierBytes const& peaks, Budgets const& budgets);

// Returns the budgets for plans whose estimates are probably wrong by `off` bytes.
Budgets corrected(Budgets budgets, TierBytes const& off);
// Returns candidates that need less device memory and fit: one moves more state off the device,
// another takes more layers off `keep`.
std::vector<Candidate> smaller(Candidate const& candidate, StrategySpace const& space);
// Returns all candidates that fit and differ from this one in a single choice.
std::vector<Candidate> neighbours(Candidate const& candidate, StrategySpace const& space);

}  // namespace spillway
