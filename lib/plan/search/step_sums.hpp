// These sums give a step's work and transfers under a Plan. They ignore waits.
#pragma once

#include "plan/search/block_model.hpp"

namespace spillway {

// These are the bytes that a rank moves between tiers in a step.
using LaneBytes = PerLane<std::int64_t>;

struct StepSums {
  PerLane<double> busy_s{};
  Shares asked_s{};  // how many seconds each shared resource is in full use
  LaneBytes moved_bytes{};

  // Returns a lower bound of the step's time: the work of the busiest lane or shared resource.
  double bound_s() const;
};
StepSums step_sums(BlockModel const& model, Machine const& machine, Plan const& plan,
                   std::int64_t micro_batches);

// Sums up the bytes of all lanes that copy from one tier to another.
std::int64_t between_tiers(LaneBytes const& bytes);

}  // namespace spillway
