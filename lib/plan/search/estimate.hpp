// Estimates say how many bytes a Plan needs and how long its step takes. An estimate takes
// microseconds, not the milliseconds of a compilation, and shows what is worth compiling.
#pragma once

#include <cstdint>

#include "plan/search/block_model.hpp"

namespace spillway {

// Sums up a step's work and transfers. Waits are ignored.
struct StepSums {
  PerLane<double> busy_s{};
  Shares asked_s{};                     // how many seconds each shared resource is in full use
  PerLane<std::int64_t> moved_bytes{};  // bytes that a rank moves between tiers

  // Returns a lower bound of the step's time: the work of the busiest lane or shared resource.
  double bound_s() const;
};
// Sums up the bytes of all lanes that copy from one tier to another.
std::int64_t between_tiers(PerLane<std::int64_t> const& bytes);

class Estimator {
 public:
  // The model and the machine must outlive this object.
  Estimator(BlockModel const& model, Machine const& machine, std::int64_t micro_batches)
      : m_model(model), m_machine(machine), m_micro_batches(micro_batches) {}

  BlockModel const& model() const { return m_model; }

  // Returns the peak of bytes in each tier. Layout may add to it.
  TierBytes peaks(Plan const& plan) const;
  // Returns the seconds that a step takes in the steady state.
  double step_s(Plan const& plan) const;
  // Returns a step's sums, which give a lower bound of its time. This is faster than `step_s`.
  StepSums sums(Plan const& plan) const;

 private:
  BlockModel const& m_model;
  Machine const& m_machine;
  std::int64_t m_micro_batches;
};

}  // namespace spillway
