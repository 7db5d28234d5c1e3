// Whether a run goes on with the plan it has: steps are watched, and another plan is looked for
// where the machine is not what the plan was made for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "plan/move/drift.hpp"
#include "runtime/step_result.hpp"
#include "train/plan_run.hpp"
#include "train/reporter.hpp"
#include "train/run_memory.hpp"

namespace spillway {

// All outlive it.
struct ReplanParts {
  Config const& config;
  std::int64_t vocab;
  PlannedRun const& planned;
  Simulation const& simulation;  // of it, on `machine`
  Machine const& machine;
  Budgets limits;
  RunMemory& memory;
  Reporter& reporter;
  Comm& comm;
};

// A plan to go on with, and what brings state to where it has it.
struct NewPlan {
  std::unique_ptr<PlannedRun> run;
  Simulation simulation;
  Program move;
};

// All ranks call the same methods after the same steps and get the same plans. Rank 0 says what is
// decided, and why.
class Replanner {
 public:
  explicit Replanner(ReplanParts const& parts);

  // Collective now and then. After so many steps that counted: a plan that pays. After an answer of
  // either kind it waits longer and longer, so that noise costs little.
  std::optional<NewPlan> after_step(std::int64_t steps_done, StepResult const& result);
  // Collective. After storage has failed for good: a plan that needs none. Empty as well where
  // state lies there.
  std::optional<NewPlan> without_storage(std::int64_t steps_done);

  // It is in force.
  void adopt(NewPlan plan, std::int64_t steps_done);

  // Of the plan in force.
  PlannedRun const& planned() const { return *m_planned; }
  Simulation const& simulation() const { return *m_simulation; }  // when it was chosen
  std::string const& file() const { return m_file; }              // in run.dir
  // The largest of all plans so far.
  TierBytes const& peak_bytes() const { return m_peak_bytes; }

 private:
  struct Trouble {
    std::int64_t steps_done = 0;
    std::string what;  // "steps take 2 s, planned 1 s: ..."
  };
  void watch_anew(std::int64_t wait);
  Measured measured() const;  // by this rank
  std::optional<NewPlan> look_for_better(std::int64_t steps_done, Measured const& seen);
  std::optional<NewPlan> weigh(Trouble const& trouble, double seen_s);
  std::unique_ptr<PlannedRun> search(Budgets const& budgets);
  Budgets room();
  void say(Trouble const& trouble, std::string const& consequence);

  ReplanParts m_parts;
  std::unique_ptr<NewPlan> m_adopted;
  PlannedRun const* m_planned;
  Simulation const* m_simulation;
  std::string m_file = "plan.yaml";
  TierBytes m_peak_bytes;
  Machine m_machine;     // as far as it is known by now
  Simulation m_assumed;  // of the plan in force on it; step_s: as it was last seen, if it was
  double m_search_s;     // that a search took here
  bool m_no_storage = false;
  std::int64_t m_wait;           // steps, until the next watch
  std::int64_t m_skip = 0;       // of them left
  std::vector<double> m_step_s;  // of this watch
  Measured m_sums;
};

}  // namespace spillway
