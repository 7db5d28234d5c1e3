// Estimates say what a Plan needs and how long its step takes, in microseconds instead of the
// milliseconds of a compilation, and closely enough to choose what is worth compiling.
#pragma once

#include <cstdint>

#include "plan/search/block_model.hpp"
#include "plan/search/step_sums.hpp"

namespace spillway {

class Estimator {
 public:
  // `model` and `machine` outlive it.
  Estimator(BlockModel const& model, Machine const& machine, std::int64_t micro_batches)
      : m_model(model), m_machine(machine), m_micro_batches(micro_batches) {}

  BlockModel const& model() const { return m_model; }

  // Returns peak bytes per tier, without what layout adds.
  TierBytes peaks(Plan const& plan) const;
  // Returns the seconds of a step in the steady state.
  double step_s(Plan const& plan) const;
  // Returns, in less time, a lower bound of a step's seconds and what the step moves.
  StepSums sums(Plan const& plan) const {
    return step_sums(m_model, m_machine, plan, m_micro_batches);
  }

 private:
  BlockModel const& m_model;
  Machine const& m_machine;
  std::int64_t m_micro_batches;
};

}  // namespace spillway
