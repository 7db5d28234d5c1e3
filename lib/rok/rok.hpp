// Measures how much memory each way to treat activations (recompute, offload, keep) needs, and how
// fast it is.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/plan.hpp"
#include "plan/search/estimate.hpp"
#include "run/compute_here.hpp"
#include "samples/data.hpp"

namespace spillway {

// A RokRow is one point of a curve: one policy, and steps of one micro-batch of one size.
struct RokRow {
  // What all layers do with their activations; nothing if the planner decided for each of them.
  std::optional<BlockPolicy> policy = BlockPolicy::keep;
  // `micro` is how many sequences a step has, and `sequence` how many tokens each of them has.
  std::int64_t micro = 1, sequence = 1;
  std::int64_t budget_bytes = 0;  // of device memory, within which the planner decided
  TierBytes planned_bytes{};  // peaks of the plan or, if none fits, of the one that comes closest
  std::string why = {};       // why the point was not measured; empty if it was
  // The following fields are measured, except for predicted_step_s.
  TierBytes peak_bytes{};
  std::int64_t activation_bytes = 0;  // device peak without persistent buffers; includes gradients
  double step_s = 0, predicted_step_s = 0;
  double least_step_s = 0, most_step_s = 0;
  std::int64_t spilled_bytes = 0;  // bytes written to NVMe in a step

  std::string_view name() const { return policy ? spillway::name(*policy) : "auto"; }
  std::string words() const;  // for people, such as "keep" or "auto, 12 GiB"
  bool fits() const { return why.empty(); }
  double tokens_per_s() const { return static_cast<double>(micro * sequence) / step_s; }
};

struct RokParts {
  Config const& config;
  Data const* data;  // null if tokens are random
  std::int64_t vocab;
  Budgets budgets;
  std::int64_t steps;  // steps of each point, at least 2; the first is not counted
  ComputeHere const& here;
  Comm& comm;  // must have one rank
};

// Returns the sizes of micro-batches to measure if the user names none: half of the run's size
// `micro`, that size itself, and twice that, but no more than the sequences of a step.
std::vector<std::int64_t> rok_micros(std::int64_t micro, std::int64_t sequences);

// Returns the policies that use only tiers with a budget.
std::vector<BlockPolicy> rok_policies(Budgets const& budgets);

// Returns the budgets of device memory for which the planner decides: the least, the middle and the
// most that points of uniform policies took, without those that are equal.
std::vector<std::int64_t> rok_budgets(std::span<RokRow const> uniform);
inline constexpr std::int64_t kMostRokBudgets = 3;
// Returns how many points there are at most.
std::int64_t most_points(std::span<std::int64_t const> micros, Budgets const& budgets);

// Measures each policy that uses only tiers with budgets, with each size of `micros`, and
// what the planner decides within rok_budgets(). Parameters, gradients and optimizer state lie
// where the Config says, or on the device if it says `auto`, so that only activations differ. Rows
// of the planner come first. The memory of a point is freed before the next point is measured.
// Passes each row to `told` as soon as it is complete, with how many are to come at most: how many
// budgets there are shows only when the points of uniform policies are measured. Throws Error:
// storage if a transfer fails, non_finite if the loss or the gradient norm is not finite, bad_input
// if the Config asks for what is not supported.
std::vector<RokRow> measure_rok(RokParts const& parts, std::span<std::int64_t const> micros,
                                std::function<void(RokRow const&, std::int64_t left)> const& told);

}  // namespace spillway
