// Makes proved Programs that fit the budgets, from a Config and the Target of a run.
#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "plan/bound/step_bound.hpp"
#include "plan/search/solve.hpp"
#include "run/target.hpp"

namespace spillway {

// Returns what the Config asks of the search for a plan.
PlanRequest plan_request(Config const& config);

// Returns whether the plan may change during the run. Where ranks have unlike numbers of
// micro-batches, they would not find alike what a change gains and costs.
bool may_replan(Config const& config);

// A PlannedRun must not be moved while an Engine runs its Programs, since the Engine refers to it.
struct PlannedRun {
  Graph train;
  std::optional<Graph> eval;  // present if there is validation data
  Plan plan;
  Compiled programs;
  // The training Program of a rank with the most micro-batches, if this rank has fewer.
  std::optional<Program> longest = {};
  // How many plans the search has estimated, and how many it has compiled.
  int estimated = 0, compiled = 0;
  double search_s = 0;
};

// Returns the training Program of a rank with the most micro-batches.
Program const& longest_step(PlannedRun const& planned);

// Returns what no plan of such a run could be faster than, for a rank with the most micro-batches,
// whose step takes `step_s` under this plan.
StepBound bound_of(PlannedRun const& planned, Config const& config, Machine const& machine,
                   Budgets const& budgets, double step_s);

// Compiles the same Plan for a rank that has fewer micro-batches than it was made for. Throws
// std::logic_error if the rank would not exchange what the others do.
void compile_for_rank(PlannedRun& planned, std::int64_t micro_batches);

// Says in all graphs and Programs how products are made on the device that will run them.
void set_products(PlannedRun& planned, ProductChoices const& products);

// Chooses a Plan. All ranks must plan for the same Target. If the size of micro-batches is free,
// halves it until a plan fits, and then lets MLPs take some rows at a time if that is free. Throws
// Error: cannot_fit, which names the smallest budget that suffices, or bad_input for requests that
// are not supported. The Programs are of a rank with the most micro-batches.
PlannedRun plan_run(Config const& config, std::int64_t vocab, Target const& target);

}  // namespace spillway
