// A step's work and transfers under a Plan, summed over blocks without regard to waits.
#pragma once

#include "plan/search/block_model.hpp"

namespace spillway {

// A rank moves these bytes between tiers, per step.
using LaneBytes = PerLane<std::int64_t>;

struct StepSums {
  PerLane<double> busy_s{};
  Shares asked_s{};  // of what lanes share: how long a step would take if it got all of it
  LaneBytes moved_bytes{};

  // No step is shorter than the work of the busiest lane or shared resource.
  double bound_s() const;
};
StepSums step_sums(BlockModel const& model, Machine const& machine, Plan const& plan,
                   std::int64_t micro_batches);

// Sums the bytes of all lanes that lead from one tier to another.
std::int64_t between_tiers(LaneBytes const& bytes);

}  // namespace spillway
