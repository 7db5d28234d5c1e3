// Makes plan.json, which a run writes beside plan.yaml for whoever draws the plan.
#pragma once

#include <string>

#include "plan/time/simulate.hpp"
#include "run/plan_run.hpp"

namespace spillway {

// The file begins with this key, whose value is the version of its form (docs/report.md).
inline constexpr auto kPlanRecordKey = "spillway_plan";
inline constexpr int kPlanRecordForm = 1;

// Returns what the plan foresees for a step of a rank with the most micro-batches: which bytes of
// each layer and chunk lie where, what fills each tier over the step, and what each lane does.
// `simulation` is of its Program (longest_step).
std::string plan_record(PlannedRun const& planned, Simulation const& simulation,
                        Budgets const& budgets);

}  // namespace spillway
