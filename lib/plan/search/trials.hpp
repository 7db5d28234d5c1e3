// Trials compiles and simulates plans to find out what they really need, and keeps the best one.
#pragma once

#include <limits>
#include <vector>

#include "plan/search/search.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// Plans of few blocks are compiled fast, and their estimates are rough.
inline bool has_few_blocks(PlanQuestion const& question) {
  constexpr std::size_t few = 10;
  return question.train.blocks.size() <= few;
}

class Trials {
 public:
  // The question must outlive this object.
  explicit Trials(PlanQuestion const& question) : m_question(question) {}

  struct Result {
    TierBytes off{};  // exact peaks minus estimated peaks
    bool fits = false;
    bool leads = false;  // true if the plan was chosen, or is the fastest so far
  };
  // Compiles the plan. Simulates a step if the plan fits or if writes to the drive are limited.
  Result try_out(Candidate const& candidate);

  // Says whether the candidate need not be tried, because it was tried already, or because a plan
  // with the same activations fits and has a shorter estimate, or because some have an equal one.
  bool is_done(Candidate const& candidate) const;
  bool was_compiled(Plan const& plan) const;
  // Returns how many plans that were tried have this estimate of their time. Plans with equal ones
  // mostly differ in what does not matter.
  std::ptrdiff_t estimated_alike(double step_s) const;
  // Returns a time beside which estimates that are kHopeless times as long are too long for the
  // best plan, or infinity if no plan was found.
  double hope_s() const;
  bool is_hopeless(Candidate const& candidate) const {
    return candidate.step_s > kHopeless * hope_s();
  }
  // Returns how long the candidate's step is expected to take: as long as estimated, or longer as
  // steps of compiled plans of its kind took longer than estimated, on average.
  double expected_s(Candidate const& candidate) const;
  KindErrors const& errors() const { return m_errors; }
  // Returns by how many bytes the estimate was too low for the most similar compiled plan, or of so
  // many that were compiled last.
  TierBytes expected_off(Plan const& plan,
                         std::size_t last = std::numeric_limits<std::size_t>::max()) const;

  bool found() const { return m_solution.chosen.has_value(); }
  // A plan must have been found.
  Plan const& best() const { return m_solution.chosen.value().plan; }
  TierBytes const& peaks_of_best() const {
    return m_solution.chosen.value().compiled.train.peak_bytes;
  }
  // A Timed candidate fits, and its step takes so long in simulation.
  struct Timed {
    Candidate candidate;
    double step_s = std::numeric_limits<double>::infinity();
  };
  // Lists all of them.
  std::vector<Timed> const& fitting() const { return m_fitting; }
  // Returns the shortest simulated step, or infinity if no plan was found.
  double best_s() const { return m_best_s; }
  // Returns how many micro-batches may walk together in a plan like the best one, or like the last
  // one that was compiled if none was found, so that it has about `most_items` items.
  std::int64_t most_group(std::int64_t most_items) const;
  // Returns the number of items of all compiled plans, each divided by how many micro-batches walk
  // together in it.
  std::size_t items() const { return m_items; }
  // Returns the number of all of them.
  std::size_t all_items() const { return m_all_items; }
  int compiled() const { return m_solution.compiled; }
  // Proves the chosen plan and returns the solution. After that, no other function may be called.
  Solution finish();

 private:
  // Exchanges the chosen plan and its Programs for these if these are better.
  void choose(Plan const& plan, Compiled& compiled, Simulation const& simulation);
  void note_need(Need need);

  PlanQuestion const& m_question;
  double m_best_s = std::numeric_limits<double>::infinity();
  MovedBytes m_moved_bytes{};  // those of the chosen plan's step
  std::size_t m_items = 0, m_all_items = 0;
  // Counts the items of a micro-batch, and those of the update.
  struct ItemsOf {
    std::int64_t micro_batch = 1, update = 0;
  };
  static ItemsOf items_of(Program const& program);
  ItemsOf m_last_items;
  struct Done {
    Plan plan;
    TierBytes off;
    double estimated_s = 0;
    // The same, but infinite if the plan does not fit.
    double step_s = std::numeric_limits<double>::infinity();
  };
  std::vector<Done> m_done;
  KindErrors m_errors;
  std::vector<Timed> m_fitting;
  Solution m_solution;
  Program m_spare;  // holds the last Program that was not chosen
};

}  // namespace spillway
