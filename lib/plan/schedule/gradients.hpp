// How the gradients of micro-batches and ranks become the step's.
#pragma once

#include <cstddef>

#include "plan/schedule/draft.hpp"

namespace spillway {

// Gradients of the micro-batch before are of no use to this one.
void forget_gradients(Draft& draft);
// A chunk's gradient, or a part of one, is complete for this micro-batch with this block: it joins
// the step's. With the step's last one the parts of a chunk are added, and its reduction begins.
void finish_gradient(Draft& draft, TensorId tensor, int block, MicroBatch const& micro_batch);
// The second half of a reduction, for the `count` gradients that have waited longest.
void finish_reductions(Draft& draft, std::size_t count);
// The lane that works where a chunk's gradient has its home.
Lane gradient_lane(Draft const& draft, Chunk const& chunk);

}  // namespace spillway
