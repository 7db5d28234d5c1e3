// All ranks must start with equal models. A check is needed, as ranks may read different files.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "state/model_state.hpp"
#include "state/run_state.hpp"

namespace spillway {

// Compares the RunState, the plan's text and all weights between ranks. All ranks call this. Throws
// AgreedError(bad_input), which names the first rank that differs from rank 0.
void require_same_start(Comm& comm, RunState state, std::string const& plan, ModelState& model);

}  // namespace spillway
