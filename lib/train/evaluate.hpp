// Computes the loss over the validation set.
#pragma once

#include <cstdint>
#include <functional>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "report/loss_sums.hpp"
#include "runtime/engine.hpp"
#include "samples/batch_shape.hpp"
#include "samples/data.hpp"

namespace spillway {

// Returns how many windows of the validation set an evaluation during a run reads, which is 0 if
// there is none.
std::int64_t eval_windows(Config const& config, Data const& data);
// Returns how many batches of a step's shape they make on each rank.
std::int64_t eval_batches(Config const& config, Data const& data, BatchShape const& shape);

// Runs the Engine of an eval Program over `batches` batches of this rank. All ranks must call it.
// Returns the loss over the targets of all ranks, added in the order of ranks. `told`, which may be
// empty, is called after every batch with the number of batches done and this rank's loss so far.
// Throws AgreedError, with `storage` if a rank could not read what lies on NVMe.
using EvalTold = std::function<void(std::int64_t done, LossSums const& so_far)>;
LossSums evaluate(Engine& engine, std::int64_t batches, Comm& comm, EvalTold const& told = {});

}  // namespace spillway
