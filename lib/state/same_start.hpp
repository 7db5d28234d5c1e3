// All ranks must start with equal models. A check is needed, as ranks may read different files.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "state/model_state.hpp"
#include "state/run_state.hpp"

namespace spillway {

// Compares the configurations of ranks, before they exchange what depends on them. Collective.
// Throws AgreedError(bad_input), which names the first rank that differs from rank 0 and the keys.
void require_same_config(Comm& comm, Config const& config);

// Compares what ranks found at `checkpoint`: the same state, or none (null). Is collective and
// throws as require_same_config does.
void require_same_checkpoint(Comm& comm, std::string const& checkpoint, RunState const* state);

// Compares the RunState, the plan's text and all weights between ranks. All ranks call this. Throws
// AgreedError(bad_input), which names the first rank that differs from rank 0.
void require_same_start(Comm& comm, RunState state, std::string const& plan, ModelState& model);

}  // namespace spillway
