// What the lanes of a step are asked for under a Plan: sums over blocks, without waits.
#pragma once

#include "plan/search/block_model.hpp"

namespace spillway {

// By a step of a rank, between tiers.
using LaneBytes = PerLane<std::int64_t>;

struct StepSums {
  PerLane<double> busy_s{};
  Shares asked_s{};  // of what lanes share, seconds of all of it
  LaneBytes moved_bytes{};

  // No step is shorter: the busiest lane's work, or that of what lanes share.
  double bound_s() const;
};
StepSums step_sums(BlockModel const& model, Machine const& machine, Plan const& plan,
                   std::int64_t micro_batches);

// The sum over all lanes that lead from one tier to another.
std::int64_t between_tiers(LaneBytes const& bytes);

}  // namespace spillway
