// All ranks must start with equal models. A check is needed, as ranks may read different files.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "state/resume.hpp"
#include "state/run_state.hpp"

namespace spillway {

// Compares the configurations of ranks, before they exchange what depends on them. Collective.
// Throws AgreedError(bad_input), which names the first rank that differs from rank 0 and the keys.
void require_same_config(Comm& comm, Config const& config);

// Compares what ranks found at `checkpoint`: the same state, or none (null). Is collective and
// throws as require_same_config does.
void require_same_checkpoint(Comm& comm, std::string const& checkpoint, RunState const* state);

// Compares what ranks start with, and the plan's text. Weights are compared by what they were made
// of: those of a checkpoint, which each rank has verified where it read them, by its checksums; new
// ones by what is drawn; those of other files by the values of which every rank keeps all. All
// ranks call this. Throws AgreedError(bad_input), which names the first rank that differs from rank
// 0.
void require_same_start(Comm& comm, StartedModel const& start, std::string const& plan);

}  // namespace spillway
