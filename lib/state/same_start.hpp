// Replicas must start equal. If ranks read different files, their models would differ unnoticed.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "state/model_state.hpp"
#include "state/run_state.hpp"

namespace spillway {

// Compares the run state, the plan's text and every weight over ranks. All ranks call this. Throws
// AgreedError (bad_input), which names the first rank that differs from rank 0.
void require_same_start(Comm& comm, RunState state, std::string const& plan, ModelState& model);

}  // namespace spillway
