// Finds a Plan that does what the user asked for and fits the budgets.
#pragma once

#include <optional>
#include <string>

#include "plan/compile/compile.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/open_plan.hpp"
#include "plan/search/need.hpp"
#include "plan/search/sharding.hpp"

namespace spillway {

struct PlanQuestion {
  Graph const& train;
  Graph const* eval;  // or null
  PlanRequest request;
  Budgets budgets;
  Machine const& machine;
  std::int64_t micro_batches, ranks;
};

struct Solution {
  struct Chosen {
    Plan plan;
    Compiled compiled;
    double step_s = 0;  // simulated
  };
  std::optional<Chosen> chosen;     // empty: nothing fits
  Need smallest;                    // where nothing fits: what the leanest plan found would need
  int looked_at = 0, compiled = 0;  // plans
};

// Finds the fastest Plan on `machine` that fits the budgets: many are estimated, the best of them
// compiled and simulated, one is proved. Of plans that differ little in time it takes one that
// moves few bytes. Deterministic. Throws std::invalid_argument for what is not offered, and what
// `check_limits` throws.
Solution solve(PlanQuestion const& question);

// Does the same by estimates alone, in a fraction of the time, to see what to expect of a
// micro-batch's size, or of sharding.
struct Outlook {
  bool fits = false;
  TierBytes peak_bytes{};  // of the best plan; where none fits, of one that lacks few bytes
  double step_s = 0;
  bool as_asked = false;  // all fits where it was asked for, or else on the device
};
Outlook outlook(PlanQuestion const& question, Shard shard);

// Compiles and simulates a Plan, which may be one that does not fit.
double simulated_step_s(PlanQuestion const& question, Plan const& plan);

}  // namespace spillway
