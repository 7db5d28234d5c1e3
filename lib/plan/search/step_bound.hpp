// What no step under a Plan can be shorter than, and what it moves: sums over blocks, without
// waits.
#pragma once

#include <array>

#include "plan/search/block_model.hpp"

namespace spillway {

// The busiest lane's work, and what lanes share.
double step_bound_s(BlockModel const& model, Machine const& machine, Plan const& plan,
                    std::int64_t micro_batches);

// By a step of a rank, between tiers.
using LaneBytes = PerLane<std::int64_t>;
LaneBytes moved_bytes(BlockModel const& model, Plan const& plan, std::int64_t micro_batches);
// The sum over all lanes that lead from one tier to another.
std::int64_t between_tiers(LaneBytes const& bytes);

}  // namespace spillway
