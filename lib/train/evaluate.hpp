// Loss over the validation set.
#pragma once

#include <cstdint>
#include <functional>

#include "comm/comm.hpp"
#include "report/loss_sums.hpp"
#include "runtime/engine.hpp"

namespace spillway {

// Collective. Runs the eval Program's Engine over `batches` batches of this rank; the loss over all
// ranks' targets, sums added in rank order. `told`, which may be empty, hears after every batch how
// many are done and this rank's loss so far. AgreedError (storage) when some rank could not read
// what lies on NVMe.
using EvalTold = std::function<void(std::int64_t done, LossSums const& so_far)>;
LossSums evaluate(Engine& engine, std::int64_t batches, Comm& comm, EvalTold const& told = {});

}  // namespace spillway
