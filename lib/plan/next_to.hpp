// Around a candidate that was compiled.
#pragma once

#include <vector>

#include "plan/search.hpp"

namespace spillway {

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
