// From what the user asked for and the budgets to a Plan that fits them.
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

struct Solution {
  struct Choice {
    Plan plan;
    Compiled compiled;
    double step_s = 0;  // simulated
  };
  std::optional<Choice> choice;  // empty: nothing fits
  Need smallest;  // where nothing fits: of what was found, a Plan that lacks the fewest bytes
  int looked_at = 0, compiled = 0;  // plans
};

// The fastest Plan on `machine` that fits the budgets: many are estimated, the best of them
// compiled and simulated, one is proved. Of plans that differ little in time, one that moves few
// bytes. Deterministic. Throws std::invalid_argument for what is not offered, and what
// `check_limits` does.
Solution solve(Graph const& train, Graph const* eval, PlanRequest const& request,
               Budgets const& budgets, Machine const& machine, std::int64_t micro_batches,
               std::int64_t ranks);

// The same by estimates alone, in a fraction of the time: what to expect of a micro-batch's size,
// or of sharding.
struct Outlook {
  bool fits = false;
  TierBytes peak_bytes{};  // of the best plan; where none fits, of one that lacks few bytes
  double step_s = 0;
  bool as_asked = false;  // all fits where it was asked for, or on the device
};
Outlook outlook(Graph const& train, PlanRequest const& request, Budgets const& budgets,
                Machine const& machine, std::int64_t micro_batches, Shard shard,
                std::int64_t ranks);

// Of a Plan, chosen or not: compiled and simulated.
double simulated_step_s(Graph const& train, Graph const* eval, Plan const& plan,
                        Machine const& machine, std::int64_t micro_batches, std::int64_t ranks);

}  // namespace spillway
