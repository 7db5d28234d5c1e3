// What a Plan will need and take, from a BlockModel: in microseconds instead of milliseconds, near
// enough to choose what is worth compiling.
#pragma once

#include <cstdint>

#include "plan/search/block_model.hpp"
#include "plan/search/step_sums.hpp"

namespace spillway {

class Estimator {
 public:
  // `model` and `machine` outlive it.
  Estimator(BlockModel const& model, Machine const& machine, std::int64_t micro_batches);

  std::size_t last_layer() const { return static_cast<std::size_t>(m_model.last_layer); }
  ChunkCost const& chunk(std::size_t number) const { return m_model.chunks[number]; }

  // Peak bytes per tier. What layout adds is not in it.
  TierBytes peaks(Plan const& plan) const;
  // Seconds of a step in the steady state.
  double step_s(Plan const& plan) const;
  // In less time: what a step cannot be much shorter than, and what it moves.
  StepSums sums(Plan const& plan) const;

 private:
  BlockModel const& m_model;
  Machine const& m_machine;
  std::int64_t m_micro_batches;
};

}  // namespace spillway
