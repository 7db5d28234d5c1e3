// Which plans are worth compiling: those that fit by estimate, fastest first.
#pragma once

#include <vector>

#include "plan/choice.hpp"

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

// What comes next to a candidate whose exact bytes are known: where estimates are off, they are off
// by as much near by. All fit by that.
class NextTo {
 public:
  // All but `budgets` outlive it.
  NextTo(Candidate const& candidate, TierBytes const& exact, Estimator const& estimator,
         OpenPlan const& open, Budgets const& budgets);

  // The same with more state moved, and the same with more layers treated.
  std::vector<Candidate> smaller();
  // One step of any kind away.
  std::vector<Candidate> alike();

 private:
  bool add(Choice const& choice);

  Candidate const& m_candidate;
  Estimator const& m_estimator;
  Budgets m_budgets;
  ChoiceMaker m_maker;
  std::vector<Candidate> m_result;
};

}  // namespace spillway
