// From a Config to proved Programs that fit the budgets.
#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "plan/search/solve.hpp"
#include "train/prepare.hpp"

namespace spillway {

// What a node has: main memory, and storage where spill files go.
struct Free {
  std::int64_t memory_bytes = 0, storage_bytes = 0;
};

// The budgets of one rank: what the Config says, or its share of what is free; of storage no more
// than that. All ranks must plan with the same: the smallest.
Budgets budgets(Config const& config, Free const& free, std::int64_t local_ranks);

// Bytes per second that one rank may write on average.
double write_limit(SpillConfig const& spill, std::int64_t local_ranks);

// What the Config asks of the search.
PlanRequest plan_request(Config const& config);

// Address-stable once made: Programs of an Engine refer to it.
struct PlannedRun {
  Graph train;
  std::optional<Graph> eval;  // where there is validation data
  Plan plan;
  Compiled programs;
  int looked_at = 0, compiled = 0;  // plans
  double search_s = 0;
};

// Where the micro-batch is open, and not all fits as it is: the size with the shortest step by
// estimates, from `choices` by halves or doubles, up to a rank's share of the batch; another one
// only where that gains 5 %, since the Machine may know the ops of `choices` alone. Throws as
// plan_run does for what is not offered.
std::int64_t fastest_micro(Config const& config, std::int64_t vocab, Choices const& choices,
                           Budgets const& budgets, Machine const& machine, std::int64_t ranks);

// Chooses a Plan; all ranks must plan with the same Machine. With an automatic micro-batch
// (`micro_is_free`), halves it until something fits. Throws Error: cannot_fit with the smallest
// budget that would do, bad_input for what is not offered.
PlannedRun plan_run(Config const& config, std::int64_t vocab, Choices choices, bool micro_is_free,
                    Budgets const& budgets, Machine const& machine, std::int64_t ranks);

}  // namespace spillway
