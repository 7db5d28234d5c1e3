// Says what a planned run over a number of tokens takes, in numbers and as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "config/config.hpp"
#include "plan/time/run_cost.hpp"
#include "plan/time/simulate.hpp"
#include "run/plan_run.hpp"

namespace spillway {

RunCost run_of(double tokens, Config const& config, PlannedRun const& planned,
               Simulation const& simulation, Machine const& machine);

// What is not known is null.
nlohmann::ordered_json run_json(RunCost const& run);

}  // namespace spillway
