// Reads the weights that a run begins with, or goes on with.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "state/model_state.hpp"
#include "state/resume.hpp"
#include "state/run_state.hpp"

namespace spillway {

struct RestoredStart {
  BaseReference base;   // where checkpoints leave what is not trained; none if they hold all
  std::string weights;  // what the weights were made of, as a text that names their values
};

// Returns whether checkpoints of a run that begins so, or goes on so, leave what it does not train
// in a base. The second function knows what the input says alone, and is for a run that has not
// begun.
bool leaves_base(Resumption const& resumption, Config const& config, std::int64_t vocab);
bool leaves_base(RunConfig const& run);

// Reads them to the model, and with a whole checkpoint also all states. All ranks call this. Throws
// Error: bad_input for weights of another model, damaged if they are not what a checksum says.
RestoredStart restore_start(Resumption const& resumption, RunConfig const& run, ModelState& model,
                            Comm& comm);

// Reads the weights to a model that is not trained, and throws the same. All ranks call this.
void restore_weights(Resumption const& start, ModelState& model, Comm& comm);

}  // namespace spillway
