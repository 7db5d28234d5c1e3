// Turns a Config and what it is planned for into proved Programs that fit the budgets.
#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "plan/search/solve.hpp"
#include "run/target.hpp"

namespace spillway {

// Returns what the Config asks of the search.
PlanRequest plan_request(Config const& config);

// Do not move it once it is made: Programs of an Engine refer to it.
struct PlannedRun {
  Graph train;
  std::optional<Graph> eval;  // present if there is validation data
  Plan plan;
  Compiled programs;
  int looked_at = 0, compiled = 0;  // number of plans
  double search_s = 0;
};

// Chooses a Plan; all ranks must plan for the same Target. Where the micro-batch is free, halves it
// until something fits. Throws Error: cannot_fit with the smallest budget that would do, bad_input
// for what is not offered.
PlannedRun plan_run(Config const& config, std::int64_t vocab, Target const& target);

}  // namespace spillway
