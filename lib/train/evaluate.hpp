// Loss over the validation set.
#pragma once

#include <cstdint>

#include "comm/comm.hpp"
#include "runtime/engine.hpp"

namespace spillway {

// Collective. Runs the eval Program's Engine over `batches` batches of this rank; the mean loss
// over all ranks' tokens, sums added in rank order. AgreedError (storage) when some rank could not
// read what lies on NVMe.
double evaluate(Engine& engine, std::int64_t batches, Comm& comm);

}  // namespace spillway
