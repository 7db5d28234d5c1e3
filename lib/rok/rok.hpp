// Measures what each way to treat activations (recompute, offload, keep) needs and how fast it is.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/plan.hpp"
#include "plan/search/estimate.hpp"
#include "run/compute_here.hpp"
#include "samples/data.hpp"

namespace spillway {

// This is one point of a curve. A step is one micro-batch.
struct RokRow {
  BlockPolicy policy = BlockPolicy::keep;
  std::int64_t micro = 1, sequence = 1;  // sequences in a step, tokens in each
  TierBytes planned_bytes{};             // if nothing fits: the smallest found
  std::string why = {};                  // why it was not measured; empty if it was
  // The following fields are measured.
  TierBytes peak_bytes{};
  std::int64_t activation_bytes = 0;  // device peak less what persists; includes gradients
  double step_s = 0, predicted_step_s = 0;
  double least_step_s = 0, most_step_s = 0;
  std::int64_t spilled_bytes = 0;  // written to NVMe in a step

  bool fits() const { return why.empty(); }
  double tokens_per_s() const { return static_cast<double>(micro * sequence) / step_s; }
};

struct RokParts {
  Config const& config;
  Data const* data;  // null: tokens are random
  std::int64_t vocab;
  Budgets budgets;
  std::int64_t steps;  // for each point, at least 2; the first is not counted
  ComputeHere const& here;
  Comm& comm;  // has one rank
};

// Returns the micro-batches to measure if the user names none: half of the run's, the run's own,
// and twice that if a step of the run has enough sequences.
std::vector<std::int64_t> rok_micros(std::int64_t micro, std::int64_t sequences);

// Measures each policy that the budgets' tiers allow with each of `micros`. Parameters, gradients
// and optimizer state lie where the Config says, or on the device where it says `auto`, so that
// only activations differ. Each point's memory is given back before the next. Passes each row to
// `told` as soon as it is complete. Throws Error: storage where it fails, non_finite, bad_input.
std::vector<RokRow> measure_rok(RokParts const& parts, std::span<std::int64_t const> micros,
                                std::function<void(RokRow const&)> const& told);

}  // namespace spillway
