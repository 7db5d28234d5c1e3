// Decides whether a run keeps its plan: watches the steps, and searches for another plan if the
// machine is not what the plan was made for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "plan/move/drift.hpp"
#include "report/reporter.hpp"
#include "run/plan_run.hpp"
#include "run/run_memory.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

// Everything here outlives the Replanner.
struct ReplanParts {
  Config const& config;
  std::int64_t vocab;
  PlannedRun const& planned;
  Simulation const& simulation;  // of `planned` on `machine`
  Machine const& machine;
  Budgets limits;
  RunMemory& memory;
  Reporter& reporter;
  Comm& comm;
};

// This is a plan to change to, with the Program that moves state to where the plan has it.
struct NewPlan {
  std::unique_ptr<PlannedRun> run;
  Simulation simulation;
  Program move;
  std::string why;
};

// All ranks call the same methods after the same steps and get the same plans. Rank 0 logs what is
// decided, and why.
class Replanner {
 public:
  explicit Replanner(ReplanParts const& parts);

  // Returns a better plan if the last watched steps show that the change pays. Waits longer after
  // every search, so that noise costs little. Some calls are collective, the same on all ranks.
  std::optional<NewPlan> after_step(std::int64_t steps_done, StepResult const& result);
  // Collective. Call this after storage has failed for good. Returns a plan that needs none, or
  // nothing if there is no such plan or if state lies in storage.
  std::optional<NewPlan> without_storage(std::int64_t steps_done);

  // Makes the plan the current one.
  void adopt(NewPlan plan, std::int64_t steps_done);

  // These return what belongs to the current plan.
  PlannedRun const& planned() const { return *m_planned; }
  Simulation const& simulation() const { return *m_simulation; }  // made when the plan was chosen
  std::string const& file() const { return m_file; }              // its name in run.dir
  // Returns the largest peaks of all plans so far.
  TierBytes const& peak_bytes() const { return m_peak_bytes; }

 private:
  struct Trouble {
    std::int64_t steps_done = 0;
    std::string what;  // such as "steps take 2 s, planned 1 s: ..."
  };
  void watch_anew(std::int64_t wait);
  Measured measured() const;  // on this rank
  std::optional<NewPlan> look_for_better(std::int64_t steps_done, Measured const& seen);
  std::optional<NewPlan> weigh(Trouble const& trouble, Measured const& seen);
  std::unique_ptr<PlannedRun> search(Budgets const& budgets);
  Budgets room();
  void say(Trouble const& trouble, std::string const& consequence);

  ReplanParts m_parts;
  std::unique_ptr<NewPlan> m_adopted;
  PlannedRun const* m_planned;
  Simulation const* m_simulation;
  std::string m_file = "plan.yaml";
  TierBytes m_peak_bytes;
  Machine m_machine;     // as it is known by now
  Simulation m_assumed;  // of the current plan on m_machine; step_s: last seen, if seen
  double m_search_s;     // how long a search took here
  bool m_no_storage = false;
  std::int64_t m_wait;           // steps to skip before the next watch
  std::int64_t m_skip = 0;       // how many of them are left
  std::vector<double> m_step_s;  // in this watch
  Measured m_sums;
};

}  // namespace spillway
