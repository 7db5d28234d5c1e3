// A step under one Plan as a timeline of blocks.
#pragma once

#include "plan/block_model.hpp"
#include "plan/timeline.hpp"

namespace spillway {

// See schedule_update.cpp.
inline constexpr int kUpdateSlots = 5;

// What nothing of the last layer may do: leave the device.
BlockPolicy effective_policy(BlockModel const& model, Plan const& plan, std::size_t block);

// What leaves the device of a block's activations, and stays away until its backward pass.
std::int64_t away_bytes(BlockModel const& model, Plan const& plan, std::size_t block);

// Of a chunk's gradient, parameters and state, what its update must have brought, and taken back,
// by the tier where that lies.
struct Brought {
  Tier workplace = Tier::device;  // where to
  std::array<std::int64_t, kTiers> bytes{}, back_bytes{};
  std::int64_t all_bytes() const;
};
Brought brought(ChunkCost const& chunk, ChunkPlan const& places, bool unified);

class StepEstimate {
 public:
  // All outlive it.
  StepEstimate(BlockModel const& model, Machine const& machine, Plan const& plan,
               std::int64_t ranks);

  // Of the second of two steps without a barrier.
  double seconds(int micro_batches) const;
  // What no step can be shorter than: the busiest lane's work, and what lanes share. Of all, and of
  // activations alone, which is no more, however state moves.
  double bound_s(double micro_batches) const;
  double activations_bound_s(double micro_batches) const;
  std::int64_t nvme_written_bytes(std::int64_t micro_batches) const;

 private:
  void add_activations(class StepBound& bound, double micro_batches) const;
  void add_state(class StepBound& bound, double micro_batches) const;

  BlockModel const& m_model;
  Machine const& m_machine;
  Plan const& m_plan;
  std::int64_t m_ranks;
};

}  // namespace spillway
