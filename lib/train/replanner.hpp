// A Replanner decides whether a run keeps its plan. It watches the times of steps, and searches for
// another plan if the machine is not as the plan assumes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "plan/move/drift.hpp"
#include "run/plan_run.hpp"
#include "run/run_memory.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

// All references must outlive the Replanner.
struct ReplanParts {
  Config const& config;
  std::int64_t vocab;
  PlannedRun const& planned;
  Simulation const& simulation;  // the simulation of `planned` on `machine`
  Machine const& machine;
  Budgets limits;
  RunMemory& memory;
  Comm& comm;
};

// A plan to change to, and the Program that moves state to where the plan has it.
struct NewPlan {
  std::unique_ptr<PlannedRun> run;
  Simulation simulation;
  Program move;
  std::string why;
};

// All ranks call the same functions after the same steps and get the same plans. Rank 0 logs what
// is decided, and why.
class Replanner {
 public:
  explicit Replanner(ReplanParts const& parts);

  // Returns how long the last steps took on this rank, once it has watched enough of them, else 0.
  // Ranks tell each other with the next commit.
  double watched_step_s() const;
  // Notes a step and what ranks told with its commit. Returns whether steps no longer take as long
  // as the plan assumes. Then all ranks must end the step's work and call look_for_better.
  bool has_drifted(std::int64_t steps_done, StepResult const& result);
  // Returns a better plan if the steps that ranks have watched show that the change pays. Waits
  // longer after every search, so that noise costs little. All ranks must call this.
  std::optional<NewPlan> look_for_better(std::int64_t steps_done);
  // Call this on all ranks after storage has failed for good. Returns a plan that does not need
  // storage, or nothing if there is no such plan or if persistent state lies in storage.
  std::optional<NewPlan> without_storage(std::int64_t steps_done);

  // Makes the plan the current one.
  void adopt(NewPlan plan, std::int64_t steps_done);

  // These functions describe the current plan.
  PlannedRun const& planned() const { return *m_planned; }
  Simulation const& simulation() const { return *m_simulation; }  // made when the plan was chosen
  std::string const& file() const { return m_file; }              // the file's name in run.dir
  // Returns for each tier the largest peak of all plans so far.
  TierBytes const& peak_bytes() const { return m_peak_bytes; }

 private:
  struct Cause {
    std::int64_t steps_done = 0;
    std::string what;  // text such as "steps take 2 s, expected 1 s: ..."
  };
  void watch_anew(std::int64_t wait);
  void watch(StepResult const& result);
  Measured measured() const;  // what was measured on this rank
  std::optional<NewPlan> find_better(std::int64_t steps_done, Measured const& seen);
  std::optional<NewPlan> weigh(Cause const& cause, Measured const& seen);
  std::unique_ptr<PlannedRun> search(Budgets const& budgets);
  Budgets room();
  void say(Cause const& cause, std::string const& consequence);

  ReplanParts m_parts;
  std::unique_ptr<NewPlan> m_adopted;
  PlannedRun const* m_planned;
  Simulation const* m_simulation;
  std::string m_file = "plan.yaml";
  TierBytes m_peak_bytes;
  Machine m_machine;     // the machine, corrected by what steps have shown
  Simulation m_assumed;  // of the current plan, with the step_s measured last, if any
  double m_search_s;     // how long the last search took on this rank
  bool m_no_storage = false;
  std::int64_t m_wait;           // how many steps to skip before the next ones are watched
  std::int64_t m_skip = 0;       // how many of these steps are still to be skipped
  std::vector<double> m_step_s;  // the times of the steps watched so far
  Measured m_sums;
  Measured m_told;  // what was measured when ranks last told each other
};

}  // namespace spillway
