// Recompute, offload, keep: what every way to treat activations needs and takes, measured here.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "kernels/exec.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/plan.hpp"
#include "plan/search/estimate.hpp"
#include "train/data.hpp"
#include "train/prepare.hpp"

namespace spillway {

// One point of a curve. A step is one micro-batch.
struct RokRow {
  BlockPolicy policy = BlockPolicy::keep;
  std::int64_t micro = 1, sequence = 1;  // sequences a step, tokens in each
  TierBytes planned_bytes{};             // where nothing fits: the least that was found
  std::string why = {};                  // it was not measured; empty: it was
  // Of what was measured:
  TierBytes peak_bytes{};
  std::int64_t activation_bytes = 0;  // device peak less what persists; gradients are in it
  double step_s = 0, predicted_step_s = 0;
  double least_step_s = 0, most_step_s = 0;
  std::int64_t spilled_bytes = 0;  // written to NVMe in a step

  bool fits() const { return why.empty(); }
  double tokens_per_s() const { return static_cast<double>(micro * sequence) / step_s; }
};

struct RokParts {
  Config const& config;
  Data const* data;  // null: random tokens
  std::int64_t vocab;
  Budgets budgets;
  Choices choices;
  std::int64_t cores;  // this process's
  std::int64_t steps;  // per point, at least 2; the first is not counted
  Exec const& exec;
  Comm& comm;  // of one rank
};

// The micro-batches that are measured where the user names none: half of the run's, it, and the
// double as far as a step of the run has so many sequences.
std::vector<std::int64_t> rok_micros(std::int64_t micro, std::int64_t sequences);

// Measures all policies that the budgets' tiers offer, at all of `micros`. Places of parameters,
// gradients and optimizer state are the Config's, or the device where it says `auto`: activations
// are all that differs. Each point's memory is given back before the next. `told` gets every row
// when it is there. Throws Error: storage where it fails, non_finite, bad_input.
std::vector<RokRow> measure_rok(RokParts const& parts, std::span<std::int64_t const> micros,
                                std::function<void(RokRow const&)> const& told);

}  // namespace spillway
