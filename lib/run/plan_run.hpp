// Makes proved Programs that fit the budgets, from a Config and the Target of a run.
#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "plan/search/solve.hpp"
#include "run/target.hpp"

namespace spillway {

// Returns what the Config asks of the search for a plan.
PlanRequest plan_request(Config const& config);

// A PlannedRun must not be moved while an Engine runs its Programs, since the Engine refers to it.
struct PlannedRun {
  Graph train;
  std::optional<Graph> eval;  // present if there is validation data
  Plan plan;
  Compiled programs;
  // How many plans the search has estimated, and how many it has compiled.
  int estimated = 0, compiled = 0;
  double search_s = 0;
};

// Says in all graphs and Programs how products are made on the device that will run them.
void set_products(PlannedRun& planned, ProductChoices const& products);

// Chooses a Plan. All ranks must plan for the same Target. If the size of micro-batches is free,
// halves it until a plan fits. Throws Error: cannot_fit, which names the smallest budget that
// suffices, or bad_input for requests that are not supported.
PlannedRun plan_run(Config const& config, std::int64_t vocab, Target const& target);

}  // namespace spillway
