// `solve` finds a Plan that does what the user asked for and fits the budgets.
#pragma once

#include <optional>
#include <string>

#include "plan/compile/compile.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/open_plan.hpp"
#include "plan/search/refusal.hpp"
#include "plan/search/sharding.hpp"

namespace spillway {

struct PlanQuestion {
  Graph const& train;
  Graph const* eval;  // null if there is no evaluation
  PlanRequest request;
  Budgets budgets;
  Machine const& machine;
  std::int64_t micro_batches, ranks;
};

struct Solution {
  struct Chosen {
    Plan plan;
    Compiled compiled;
    double step_s = 0;  // the simulated time of a step
  };
  std::optional<Chosen> chosen;     // empty if nothing fits
  Need smallest;                    // what the leanest plan would need, if nothing fits
  int looked_at = 0, compiled = 0;  // how many plans were estimated and compiled
};

// Finds the fastest Plan on `machine` that fits the budgets. Estimates many plans, compiles and
// simulates the best of them, and proves one. If times differ little, the Plan that moves fewer
// bytes wins. Deterministic: the same question has the same answer. Throws std::invalid_argument
// for a request that is not supported, and what `check_limits` throws.
Solution solve(PlanQuestion const& question);

// An Outlook says what to expect from a size of micro-batches, or from sharding. `outlook` answers
// the question like `solve`, but from estimates alone, which is much faster.
struct Outlook {
  bool fits = false;
  TierBytes peak_bytes{};  // of the best plan or, if none fits, of a lean one
  double step_s = 0;
  bool as_asked = false;  // true if everything fits where the user wants it, or on the device
};
Outlook outlook(PlanQuestion const& question, Shard shard);

// Compiles and simulates a Plan, even if it does not fit.
double simulated_step_s(PlanQuestion const& question, Plan const& plan);

}  // namespace spillway
