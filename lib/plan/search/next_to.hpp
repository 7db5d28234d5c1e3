// Around a candidate that was tried out.
#pragma once

#include <vector>

#include "plan/search/search.hpp"

namespace spillway {

// What comes next to a candidate: where estimates of it are `off` by so many bytes, those of what
// is near by are off by as much. All fit by that.
class NextTo {
 public:
  // `candidate`, `estimator` and `open` outlive it.
  NextTo(Candidate const& candidate, TierBytes const& off, Estimator const& estimator,
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
