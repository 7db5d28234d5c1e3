// The functions in this file find out what other plans than the chosen one would cost.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

// Returns whether the rates are known by which bytes reach the tiers that have such peaks.
bool knows_rates(Machine const& machine, TierBytes const& peaks);

// A PlanCost describes the best plan or, if none fits, the plan that exceeds the budgets least.
struct PlanCost {
  bool fits = false;
  TierBytes peak_bytes{};
  double step_s = 0;  // the simulated time of a step; 0 if the machine's rates are unknown
  // The time that the step's longest chain of work spends on each lane; all 0 if it is not known.
  PerLane<double> chain_s{};
};

// Returns the best plan or, if none fits, the plan that exceeds the budgets least, and its cost.
// This takes one search.
struct CostedPlan {
  Plan plan;
  PlanCost cost;
};
CostedPlan best_plan(PlanQuestion const& question);

struct Alternative {
  std::string name;
  PlanCost cost;
};

// Returns the time that the longest chain of work of a step spends on each lane.
PerLane<double> chain_seconds(Program const& program, Simulation const& simulation);

// Finds, for each of the policies keep, recompute, host and nvme, the best plan in which all layers
// have that policy. Each policy takes one search. Chains are known of those that fit.
std::vector<Alternative> alternatives(PlanQuestion const& question);

// MoreRoom says what the best plan would cost if the budget of one tier were 1 GiB larger.
struct MoreRoom {
  Tier tier = Tier::device;
  PlanCost cost;
};
std::vector<MoreRoom> one_more_gib(PlanQuestion const& question);

// Returns a budget of `tier` with which some plan fits although none does now, the other budgets
// being as they are, or nothing if no budget of that tier is enough or there is no such tier. A
// little less may be enough, too: budgets are halved five times between the present one and what
// the fastest plan takes of plenty.
std::optional<std::int64_t> sufficient_bytes(PlanQuestion const& question, Tier tier);

// Estimates what plans would cost if ranks divided no state among them, or optimizer state, or
// gradients too, or all state if they have equally many micro-batches; and, if that is left to the
// search, if the ranks of each node did (`gradients/node`, `all/node`). One rank alone has no
// alternatives.
std::vector<Alternative> shardings(PlanQuestion const& question);

}  // namespace spillway
