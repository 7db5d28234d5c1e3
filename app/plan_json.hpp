// Makes the JSON text that `spillway plan --json` prints, and parts of it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plan/explain/compare.hpp"
#include "plan/search/alternatives.hpp"
#include "plan/search/why_not.hpp"
#include "plan/time/run_cost.hpp"
#include "plan/time/simulate.hpp"
#include "run/plan_run.hpp"

namespace spillway {

struct PlanReport {
  Config const& config;
  PlannedRun const& planned;
  Simulation const& simulation;
  Machine const& machine;
  Budgets const& budgets;
  StepBound const& bound;
  std::string explanation;
  OtherPlans others = {};  // empty if neither --json nor --compare is given
  std::optional<RunCost> run = {};
  std::vector<OtherChoice> why_not = {};
  std::string rows = {};  // what is trained, and how long that takes
};

// Makes JSON of what a plan needs and takes, and of what the budgets lack for it. A time that is
// not known is null.
nlohmann::ordered_json cost_json(PlanCost const& cost, Budgets const& budgets);

std::string to_json(PlanReport const& report);

}  // namespace spillway
