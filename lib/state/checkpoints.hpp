// Saves the state of a run's model and its RunState in checkpoint directories (see io/h5).
#pragma once

#include <filesystem>
#include <optional>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "state/checkpoint_tensors.hpp"
#include "state/model_state.hpp"
#include "state/run_state.hpp"

namespace spillway {

// Returns the bytes of all tensors of one checkpoint, summed over ranks.
std::int64_t checkpoint_bytes(ModelState& model, Stored stored = Stored::all);

// Says which chunks the checkpoints of a run have.
inline Stored stored_by(RunState const& run) {
  return run.base.path.empty() ? Stored::all : Stored::trained;
}

// Checks that run.dir has space for the most checkpoints that will exist there at once, each with
// `carried_bytes` beside its tensors, and throws Error(bad_input) if it has not. One rank calls
// this before the first step of the run.
void require_checkpoint_space(RunConfig const& run, ModelState& model, std::int64_t step,
                              std::int64_t carried_bytes = 0, Stored stored = Stored::all);

struct SaveSettings {
  std::int64_t keep = 1;  // this many of the newest checkpoints stay
  // If true, the next save moves existing checkpoints, with the configurations of their run, to
  // earlier-<k>.
  bool begins_anew = false;
  CarriedFiles const* carried = nullptr;  // into each checkpoint, by rank 0; null: none
};

// Writes the checkpoint step-<n> in `run_dir` and names it in the file `latest`. All ranks call
// this, and each writes what it alone has and what belongs to an equal share of the parameters that
// all have. Carried files that cannot be written are left out with a warning. If any rank fails,
// all ranks throw an Error, which has an empty text where another rank names the cause, and the
// previous checkpoint stays.
void save_checkpoint(std::filesystem::path const& run_dir, ModelState& model, RunState const& run,
                     SaveSettings& settings, Comm& comm);

// One warning that names what lies in the checkpoint's directory and is none of its own, if there
// is any: it is passed over.
void warn_of_foreign_files(CheckpointReader const& checkpoint);

}  // namespace spillway
