// In trials plans are compiled and simulated to see what they need and take, and the best is kept.
#pragma once

#include <limits>
#include <vector>

#include "plan/search/search.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

class Trials {
 public:
  // `question` outlives it.
  explicit Trials(PlanQuestion const& question) : m_question(question) {}

  struct Result {
    TierBytes off{};  // exact bytes less estimated ones
    bool fits = false;
    bool leads = false;  // it is the chosen plan, or the fastest so far
  };
  // Compiles the plan, and simulates it where that matters.
  Result try_out(Candidate const& candidate);

  // Says whether the candidate need not be tried: it was, or a plan of the same activations that
  // fits is faster by estimate.
  bool is_done(Candidate const& candidate) const;
  bool was_compiled(Plan const& plan) const;
  // Says whether by estimate the candidate is far from the best.
  bool is_hopeless(Candidate const& candidate) const;
  // Returns by how many bytes estimates were short for the compiled plan that is most like this
  // one.
  TierBytes expected_off(Plan const& plan) const;

  bool found() const { return m_solution.chosen.has_value(); }
  std::size_t items() const { return m_items; }  // compiled
  // Proves what was chosen and returns it. The trials are over.
  Solution finish();

 private:
  void choose(Plan const& plan, Compiled compiled, Simulation const& simulation);
  void note_need(Need need);

  PlanQuestion const& m_question;
  double m_best_s = std::numeric_limits<double>::infinity();
  std::int64_t m_moved_bytes = 0;  // by the chosen plan
  std::size_t m_items = 0;
  struct Done {
    Plan plan;
    TierBytes off;
    double step_s = std::numeric_limits<double>::infinity();  // estimated, if it fits
  };
  std::vector<Done> m_done;
  Solution m_solution;
};

}  // namespace spillway
