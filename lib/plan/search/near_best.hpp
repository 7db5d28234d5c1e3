// A NearBest searches near the fastest plans that are known, by simulations.
#pragma once

#include <vector>

#include "plan/search/near_plans.hpp"
#include "plan/search/trials.hpp"

namespace spillway {

class NearBest {
 public:
  // All arguments must outlive this object.
  NearBest(PlanQuestion const& question, Estimator const& estimator, Trials& trials)
      : m_question(question), m_estimator(estimator), m_trials(trials) {}

  // Takes the fastest of all plans that were tried, tries what is near it and expected to be as
  // fast, and goes on with the fastest of those whose neighbours were not tried yet. Plans of all
  // families, which do other things with most chunks, have their turns. Ends when about so many
  // plans were estimated.
  void run(OpenPlan const& open, int most_estimated);
  // Returns how many plans were estimated.
  int estimated() const { return m_estimated; }

 private:
  std::vector<Candidate> near(NearPlans& plans, Trials::Timed const& at);
  void add(Plan const& plan, Trials::Timed const& at, Budgets const& budgets,
           std::vector<Candidate>& to);

  PlanQuestion const& m_question;
  Estimator const& m_estimator;
  Trials& m_trials;
  int m_estimated = 0;
};

}  // namespace spillway
