// Turns a Config into proved Programs that fit the budgets.
#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "plan/search/solve.hpp"
#include "run/prepare.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Holds the free bytes of a node: main memory, and storage where spill files go. The rank's part of
// the memory of a device is only there if that has memory of its own.
struct Free {
  std::int64_t memory_bytes = 0, storage_bytes = 0;
  std::optional<std::int64_t> device_bytes = {};
  // What there is of both, free or not; 0: not known.
  std::int64_t memory_total_bytes = 0, device_total_bytes = 0;
};
Free free_here(Config const& config, Compute const& compute);

// Returns the budgets of one rank: what the Config says, or else the rank's share of what is free.
// The storage budget never exceeds this share. All ranks must plan with the smallest. Throws as
// require_existing does.
Budgets budgets(Config const& config, Free const& free, std::int64_t local_ranks);

// Returns the bytes per second that one rank may write on average.
double write_limit(SpillConfig const& spill, std::int64_t local_ranks);

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

// Call it if the Config leaves the micro-batch open. Returns the size with the shortest estimated
// step. Starts at that of `choices` and halves or doubles it, up to a rank's share of the batch,
// until everything fits where the user wants it. Another size must gain 5 %, since the Machine may
// know only the ops of `choices`. Throws, as plan_run does, for what is not offered.
std::int64_t fastest_micro(Config const& config, std::int64_t vocab, Choices const& choices,
                           Budgets const& budgets, Machine const& machine, std::int64_t ranks);

// Chooses a Plan; all ranks must plan with the same Machine. If `micro_is_free`, halves the
// micro-batch until something fits. Throws Error: cannot_fit with the smallest budget that would
// do, bad_input for what is not offered.
PlannedRun plan_run(Config const& config, std::int64_t vocab, Choices choices, bool micro_is_free,
                    Budgets const& budgets, Machine const& machine, std::int64_t ranks);

}  // namespace spillway
