// A BudgetSearch searches plans within budgets by estimates, and compiles and simulates the best.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "plan/search/trials.hpp"

namespace spillway {

class BudgetSearch {
 public:
  // The estimator and the trials, which keep the best plan, must outlive this object. Plans of
  // `few_blocks` are compiled fast, and their estimates are rough, so more of them are tried.
  BudgetSearch(Estimator const& estimator, Trials& trials, bool few_blocks)
      : m_estimator(estimator), m_trials(trials), m_few_blocks(few_blocks) {}

  // Tries plans that decide what is open in `open` and fit the budgets.
  void run(OpenPlan const& open, Budgets const& budgets);
  // Does the same, once, by what is known of estimates from earlier searches, which must have found
  // a plan.
  void run_again(OpenPlan const& open, Budgets const& budgets);
  // Returns how many plans were estimated in all.
  int estimated() const { return m_estimated; }

 private:
  // The budgets by which plans are held for fitting, and what of a plan is open.
  struct Asked {
    OpenPlan const& open;
    Budgets const& budgets;
  };
  Budgets known_to_fit(Asked const& asked, Plan const& plan) const;
  void try_fixed_shares(Asked const& asked);
  void try_measured_share(Asked const& asked);
  void try_share(Asked const& asked, double share);
  void try_within(Asked const& asked, Budgets budgets);
  bool was_misled_by(Candidate const& best) const;
  std::optional<Candidate> try_once(Asked const& asked, Budgets const& within);
  void try_leanest(std::vector<Candidate> leanest);
  void try_best(Asked const& asked, std::vector<Candidate> todo, bool only_likely);
  std::vector<Candidate> try_out(Asked const& asked, Candidate const& candidate, bool only_likely);
  bool may_go_on(double expected_s) const;

  Estimator const& m_estimator;
  Trials& m_trials;
  bool m_few_blocks;
  int m_estimated = 0;
  bool m_any_fits = true;          // true if the last search found a plan that fits
  std::size_t m_items_before = 0;  // items of the plans that earlier searches compiled
  int m_compiled_before = 0;       // and how many they were
  int m_misses = 0;                // how many plans of this search did not fit
  std::vector<Candidate> m_unlikely;
};

}  // namespace spillway
