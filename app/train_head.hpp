// Makes what a job says and writes of its plan before the first step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "plan/time/simulate.hpp"
#include "run/plan_run.hpp"
#include "samples/data.hpp"

namespace spillway {

// What is planned, and for what.
struct PlannedFor {
  Config const& config;
  PlannedRun const& planned;
  Simulation const& simulation;  // of the Program of a rank with the most micro-batches
  Machine const& machine;
  Budgets const& limits;
  bool leaves_base = false;  // whether checkpoints do (state/restored_start.hpp)
};

struct PlanTexts {
  std::string whole;  // for plan.txt
  std::string brief;  // for the head of the log
  std::string binds;  // what a step's time goes to
  double step_s = 0;  // of a rank with the most micro-batches
};
PlanTexts plan_texts(PlannedFor const& made);

// What the head says besides.
struct ThisJob {
  std::vector<std::string> hosts;  // by rank
  std::string where;
  std::int64_t steps_done = 0;
  std::optional<double> limit_s = {};  // after so many seconds from now it stops
};
std::string head_of(ThisJob const& job, Data const& data, PlannedFor const& made,
                    PlanTexts const& texts);

// Returns the rows of the head that hold for a run which is only planned. `data` is null where not
// all of its files are here.
std::string planned_rows_of(PlannedFor const& made, Data const* data);

}  // namespace spillway
