// From what the user asked for and the budgets to a Plan that fits them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/passes.hpp"

namespace spillway {

inline constexpr int kShortestPrefetch = 1;

// The `plan` section of the input file. Lists are per layer (activations) and per chunk, in order;
// the last entry repeats; "auto" may stand anywhere.
struct PlanRequest {
  std::vector<std::string> activations = {"auto"};
  std::vector<std::string> parameters = {"auto"}, gradients = {"auto"}, optimizer = {"auto"};
  std::vector<std::string> update = {"auto"};
  std::optional<int> prefetch = {};  // empty: what the Machine's links ask for
  bool norm_is_awaited = true;  // by updates: for clipping, or to skip a step that is not finite
};

// `automatic` stands for "auto" in `activations`; elsewhere that is the device, but updates of
// chunks whose optimizer state is not there run on the host lane, beside the next forward, or
// beside the backward pass where they need not wait for the norm.
// A `prefetch` that is empty becomes 1.
// Throws std::invalid_argument, naming the word, for what is no policy or place, and naming the
// lengths for a list that is longer than there are layers (chunks).
Plan make_plan(Graph const& graph, PlanRequest const& request, BlockPolicy automatic);

struct Solution {
  struct Choice {
    Plan plan;
    Compiled compiled;
    double step_s = 0;  // simulated
  };
  std::optional<Choice> choice;  // empty: nothing fits
  // Where nothing fits: a Plan with the smallest device peak that was found, whose other needs are
  // met if any Plan's are.
  struct Need {
    Plan plan;
    std::array<std::int64_t, kTiers> peak_bytes{};
  } smallest;
  int looked_at = 0, compiled = 0;  // plans
};

// The fastest Plan on `machine` that fits the budgets: many are estimated, the best of them
// compiled and simulated, one is proved. Of plans that differ little in time, the one that moves
// the fewest bytes. Deterministic. Throws std::invalid_argument for what is not offered.
Solution solve(Graph const& train, Graph const* eval, PlanRequest const& request,
               Budgets const& budgets, Machine const& machine, std::int64_t micro_batches,
               std::int64_t ranks);

// "needs at least device 1250MiB and nvme 530MiB (activations: nvme)", rounded up to what a budget
// may say: for status 3.
std::string describe(Solution::Need const& need, Graph const& graph);

}  // namespace spillway
