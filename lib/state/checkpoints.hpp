// These functions save a run in checkpoint directories of io/h5, and restore it: the model's state
// and the RunState.
#pragma once

#include <filesystem>
#include <optional>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "state/model_state.hpp"
#include "state/run_state.hpp"

namespace spillway {

// Returns the bytes of all tensors of one checkpoint, summed over ranks.
std::int64_t checkpoint_bytes(ModelState& model);

// Checks the space in run.dir for the most checkpoints that will exist there at once. Throws
// Error(bad_input) if it does not suffice. One rank calls this before the first step of the run.
void require_checkpoint_space(RunConfig const& run, ModelState& model, std::int64_t step);

struct SaveSettings {
  std::int64_t keep = 1;  // this many of the newest checkpoints stay
  bool begins_anew =
      false;  // existing checkpoints belong to another run; they are moved to earlier-<k> once
};

// Writes <run>/step-<n> and points `latest` at it. All ranks call this, and each writes an equal
// share of all values. If any rank fails, all ranks throw Error(storage), some of them with an
// empty text because another rank names the cause. The previous checkpoint then stays valid.
void save_checkpoint(std::filesystem::path const& run_dir, ModelState& model, RunState const& run,
                     SaveSettings& settings, Comm& comm);

// Reads the whole checkpoint on every rank, and tells the other ranks meanwhile that this one is
// alive. With `weights_only` the moments do not change. Throws Error(bad_input) if the checkpoint
// is of another model, and Error(damaged) if it is damaged.
void restore_model(CheckpointReader& checkpoint, ModelState& model, bool weights_only, Comm& comm);

}  // namespace spillway
