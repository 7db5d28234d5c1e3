// What no step under a Plan can be shorter than, and what it writes: sums over blocks, without
// waits.
#pragma once

#include "plan/block_model.hpp"

namespace spillway {

// The busiest lane's work, and what lanes share. Of all, and of activations alone, which is no more
// however state moves.
double step_bound_s(BlockModel const& model, Machine const& machine, Plan const& plan,
                    double micro_batches);
double activations_bound_s(BlockModel const& model, Machine const& machine, Plan const& plan,
                           double micro_batches);

// To the drive, by a step of a rank.
std::int64_t nvme_written_bytes(BlockModel const& model, Plan const& plan,
                                std::int64_t micro_batches);

}  // namespace spillway
