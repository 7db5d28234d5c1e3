// A step under one Plan as a timeline of blocks.
#pragma once

#include "plan/search/block_model.hpp"

namespace spillway {

class StepEstimate {
 public:
  // All outlive it. `accumulates`: over several micro-batches.
  StepEstimate(BlockModel const& model, Machine const& machine, Plan const& plan, bool accumulates);

  // Of the second of two steps of so many micro-batches without a barrier.
  double seconds(int micro_batches) const;

 private:
  BlockModel const& m_model;
  Machine const& m_machine;
  Plan const& m_plan;
  bool m_accumulates;
};

}  // namespace spillway
