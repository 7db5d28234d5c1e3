// Which plans are worth compiling: those that fit by estimate, fastest first.
#pragma once

#include <vector>

#include "plan/search/choice.hpp"

namespace spillway {

// Estimates that are longer by more belong to plans that are not faster.
inline constexpr double kHopeless = 1.03;
// Times that differ by less are not told apart, being predictions: what moves fewer bytes is better
// then.
inline constexpr double kAlike = 0.01;

struct Candidate {
  Plan plan;
  Choice choice;  // that makes it
  double step_s = 0;
  TierBytes peaks{};
  std::int64_t moved_bytes = 0;  // between tiers
  bool wears_too_fast = false;   // writes more to the drive than the budget allows
};

bool better(Candidate const& a, Candidate const& b);

// Its Plan and peaks; its time is yet to be taken.
Candidate estimated(Choice const& choice, ChoiceMaker const& maker, Estimator const& estimator);
void take_time(Candidate& candidate, Estimator const& estimator);
// `candidate.step_s` may be a bound or an estimate, or 0 where neither was made.
bool wears_too_fast(Candidate const& candidate, Estimator const& estimator, Budgets const& budgets);

struct SearchResult {
  std::vector<Candidate> fitting;  // the best ones, best first
  Candidate leanest;               // of all looked at, the one that lacks fewest bytes
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
