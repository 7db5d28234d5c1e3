// `solve` finds a Plan that does what the user asked for and fits the budgets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/compile/compile.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/open_plan.hpp"
#include "plan/search/refusal.hpp"

namespace spillway {

struct PlanQuestion {
  Graph const& train;
  Graph const* eval;  // the graph for evaluation, or null if there is none
  PlanRequest request;
  Budgets budgets;
  Machine const& machine;
  std::int64_t micro_batches, ranks;  // micro_batches: of a rank with most
  // The other numbers of micro-batches that ranks have. If there are any, no rank may wait for
  // another one inside a micro-batch.
  std::vector<std::int64_t> fewer = {};
  bool nodes_alike = true;  // whether each node has as many ranks, with consecutive numbers

  // Returns how many ranks share out if those of each node do, as the machine describes nodes, or 0
  // if nodes are not alike.
  std::int64_t sharers_of_nodes() const;
  // Returns the same number if it is left to the search whether those ranks share out instead of
  // all, and if nodes are several, with several ranks each; otherwise 0.
  std::int64_t open_sharers_of_nodes() const;
  // Returns whether ranks may gather parameters for a micro-batch, for which all must run it.
  bool may_gather() const { return fewer.empty(); }
};

struct Solution {
  struct Chosen {
    Plan plan;
    Compiled compiled;
    double step_s = 0;  // the simulated time of a step
  };
  std::optional<Chosen> chosen;     // the best plan that fits; empty if none fits
  Need smallest;                    // if none fits, the Need of the plan that exceeds budgets least
  int estimated = 0, compiled = 0;  // how many plans were estimated, and how many compiled
};

// Finds the fastest Plan on `machine` that fits the budgets. Estimates many plans, compiles and
// simulates the best of them, and proves one. If times differ little, the Plan wins that writes
// less to the drive or, if that is equal, moves fewer bytes. The same question always has the same
// answer. Throws what `check_limits` and `check_uneven` throw, and std::invalid_argument for a
// request that is not supported.
Solution solve(PlanQuestion const& question);

// An Outlook answers a PlanQuestion from estimates alone, which is much faster than `solve`. It
// serves to choose a size of micro-batches, and to say what sharding would bring. Micro-batches
// walk one by one in it, unless the request says otherwise.
struct Outlook {
  bool fits = false;
  TierBytes peak_bytes{};  // peaks of the best plan or, if none fits, of one that needs little
  double step_s = 0;
  bool as_asked = false;  // true if everything fits on the device or where the user wants it
  Plan plan = {};         // the plan that the numbers are about
};
Outlook outlook(PlanQuestion const& question);

// Estimates what plans need and take that need not fit. They must treat layers as the question
// allows. This is much faster than compiling them.
struct PlanEstimate {
  TierBytes peak_bytes{};
  double step_s = 0;
};
std::vector<PlanEstimate> estimates(PlanQuestion const& question, std::vector<Plan> const& plans);

// Compiles and simulates a Plan, which need not fit, and returns the seconds that a step takes.
double simulated_step_s(PlanQuestion const& question, Plan const& plan);

}  // namespace spillway
