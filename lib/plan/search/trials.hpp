// Plans that are compiled to see what they need and take, and the best of them.
#pragma once

#include <limits>
#include <vector>

#include "plan/search/search.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// What all trials share; outlives them.
struct Job {
  Graph const& train;
  Graph const* eval;
  Machine const& machine;
  Budgets const& budgets;
  std::int64_t micro_batches, ranks;
};

class Trials {
 public:
  explicit Trials(Job const& job) : m_job(job) {}

  struct Result {
    TierBytes off{};  // exact bytes less estimated ones
    bool fits = false;
    bool leads = false;  // it is the choice, or the fastest so far
  };
  // Compiled as far as that takes, and simulated if it fits.
  Result try_out(Candidate const& candidate);

  // Whether it need not be tried: it was, or a plan of the same activations that fits is faster by
  // estimate.
  bool is_done(Candidate const& candidate) const;
  bool was_compiled(Plan const& plan) const;
  // Whether estimates say that it is far from the best.
  bool is_hopeless(Candidate const& candidate) const;
  // By how many bytes estimates of a Plan are short: as of the one compiled that is most like it.
  TierBytes expected_off(Plan const& plan) const;

  bool found() const { return m_solution.choice.has_value(); }
  std::size_t items() const { return m_items; }  // compiled
  // With what was chosen, proved. The Trials are over.
  Solution finish();

 private:
  Compiled placed(Plan const& plan);
  Simulation simulated(Program& program) const;
  double excess_bytes_per_s(Simulation const& simulation) const;
  bool consider(Plan const& plan, Compiled compiled);
  void choose(Plan const& plan, Compiled compiled, Simulation const& simulation);
  void note_need(Plan const& plan, Compiled& compiled);
  void note_need(Need need);

  Job const& m_job;
  double m_best_s = std::numeric_limits<double>::infinity();
  double m_estimated_s = m_best_s;  // of the plans that fitted, the shortest
  std::int64_t m_moved = 0;         // by the choice
  std::size_t m_items = 0;
  struct Done {
    Plan plan;
    TierBytes off;
  };
  std::vector<Done> m_done;
  std::vector<Candidate> m_fitting;  // of them
  Solution m_solution;
};

}  // namespace spillway
