// These functions save and restore a run: the model's state and the RunState, in io/h5's checkpoint
// directories.
#pragma once

#include <filesystem>
#include <optional>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "state/model_state.hpp"
#include "state/run_state.hpp"

namespace spillway {

// Returns the bytes of one checkpoint's tensors, over all ranks.
std::int64_t checkpoint_bytes(ModelState& model);

// One rank calls this before step 0, or where the run goes on. It throws Error(bad_input) when
// run.dir has no space for the most checkpoints that will stand there at once, an older one and its
// successor.
void require_checkpoint_space(RunConfig const& run, ModelState& model, std::int64_t step);

struct SaveSettings {
  std::int64_t keep = 1;  // so many of the newest ones stay
  bool begins_anew =
      false;  // the checkpoints that are there belong to another run: they go to earlier-<k>, once
};

// All ranks call it. Writes <run>/step-<n> and points `latest` at it; each rank writes an equal
// share of all values. Throws Error(storage) on all ranks alike (with an empty text on those that
// need not speak); the previous checkpoint stays valid then.
void save_checkpoint(std::filesystem::path const& run_dir, ModelState& model, RunState const& run,
                     SaveSettings& settings, Comm& comm);

// Every rank reads the whole, and tells the others that it lives. `weights_only` leaves the moments
// as they are. Throws Error(bad_input) when the checkpoint is of another model, Error(damaged) when
// it is damaged.
void restore_model(CheckpointReader& checkpoint, ModelState& model, bool weights_only, Comm& comm);

}  // namespace spillway
