// Replicas must start alike: ranks that read different files would train apart without a sign.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "state/model_state.hpp"
#include "state/run_state.hpp"

namespace spillway {

// All ranks call it. Compares the run state, the plan's text and every weight over ranks. Throws
// AgreedError (bad_input) naming the first rank that differs from rank 0.
void require_same_start(Comm& comm, RunState state, std::string const& plan, ModelState& model);

}  // namespace spillway
