// Estimates say how many bytes a Plan needs and how long its step takes. An estimate takes
// microseconds, a compilation milliseconds, so estimates show which Plans are worth compiling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "plan/search/block_model.hpp"

namespace spillway {

// StepSums holds the sums of a step's work and transfers, without the time spent in waits.
struct StepSums {
  PerLane<double> busy_s{};
  Shares asked_s{};                     // seconds that each shared resource needs at full use
  PerLane<std::int64_t> moved_bytes{};  // bytes that a rank moves on each lane

  // Returns a lower bound of the step's time: the work of the busiest lane or shared resource.
  double bound_s() const;
};
// MovedBytes says what a step moves from one tier to another. Of plans that are equally fast, the
// best one writes the least to the drive, which wears it out, and then moves the least.
struct MovedBytes {
  std::int64_t written = 0;  // to the drive
  std::int64_t all = 0;      // on the four lanes that copy

  auto operator<=>(MovedBytes const&) const = default;
};
MovedBytes between_tiers(PerLane<std::int64_t> const& bytes);

class Estimator {
 public:
  // The model and the machine must outlive this object.
  Estimator(BlockModel const& model, Machine const& machine, std::int64_t micro_batches)
      : m_model(model), m_machine(machine), m_micro_batches(micro_batches) {}

  BlockModel const& model() const { return m_model; }
  std::int64_t micro_batches() const { return m_micro_batches; }

  // Returns the estimated peak of bytes in each tier. Gaps between buffers may add to it.
  TierBytes peaks(Plan const& plan) const;
  // Returns the estimated seconds that a step takes in the steady state.
  double step_s(Plan const& plan) const;
  // Returns how many jobs all steps had that were told to estimate times, which is what estimates
  // take long for.
  std::int64_t told_jobs() const { return m_told_jobs; }
  // Adds up the work of a step, for a lower bound of its time. This takes less time than `step_s`.
  StepSums sums(Plan const& plan) const;
  // Adds up only passes and activations that leave and return, which moves of state do not change.
  StepSums passes(Plan const& plan) const;

 private:
  // Returns how many micro-batches walk together under the plan.
  std::int64_t group(Plan const& plan) const { return std::min(plan.group, m_micro_batches); }

  TierBytes peaks_of(Plan const& plan) const;
  double told_step_s(Plan const& plan) const;

  BlockModel const& m_model;
  Machine const& m_machine;
  std::int64_t m_micro_batches;
  // A search asks for the peaks of a third of its plans again, and for the times of half of them.
  mutable std::unordered_map<std::uint64_t, TierBytes> m_peaks;
  mutable std::unordered_map<std::uint64_t, double> m_steps_s;
  mutable std::int64_t m_told_jobs = 0;
};

}  // namespace spillway
