// Late acceptance (Burke and Bykov, "The late acceptance hill-climbing heuristic", European Journal
// of Operational Research 258, 2017) walks from plan to plan at random, and takes a step if the
// plan there costs no more than the present one, or than the one some steps ago. So it crosses
// plans that are slower.
#pragma once

#include <vector>

#include "plan/search/random_steps.hpp"
#include "plan/search/trials.hpp"

namespace spillway {

class LateAcceptance {
 public:
  // All arguments must outlive this object. A plan must have been found.
  LateAcceptance(PlanQuestion const& question, OpenPlan const& open, Estimator const& estimator,
                 Trials& trials)
      : m_question(question),
        m_estimator(estimator),
        m_trials(trials),
        m_open(open),
        m_steps(question, open),
        m_few_blocks(has_few_blocks(question)) {}

  // Walks from the best plan, and from what becomes of the best plan if it decides what each of the
  // others leaves less open, until that leads no further or has told many jobs. Compiles and
  // simulates the best plans of each walk.
  void run(std::vector<OpenPlan> const& decided);
  // Returns how many plans were estimated.
  int estimated() const { return m_estimated; }

 private:
  struct Cost {
    double cost, step_s;
    bool fits;
  };
  void run_once(std::vector<OpenPlan> const& decided);
  void walk_from(Plan plan);
  Cost cost(Plan const& plan, double most);
  double missing_share(Plan const& plan) const;
  Plan without_vain_prefetch(Plan const& plan) const;
  void try_out(std::vector<Plan> const& found);

  PlanQuestion const& m_question;
  Estimator const& m_estimator;
  Trials& m_trials;
  OpenPlan const& m_open;
  RandomSteps m_steps;
  bool m_few_blocks;
  // A step counts as longer by this times the share of a budget that the plan needs beyond it. What
  // a walk has met keeps the cost it had at the price of then.
  double m_price = 2;
  int m_estimated = 0;
  // What estimates had told before the first walk, and what was compiled.
  std::int64_t m_told_before = 0;
  std::size_t m_items_before = 0;
};

}  // namespace spillway
