// A run begins fresh, with another run's weights, or at its own last checkpoint.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "state/model_state.hpp"
#include "state/run_state.hpp"

namespace spillway {

struct Resumption {
  std::filesystem::path checkpoint;
  RunState state;
  bool whole = true;                         // else only the weights are taken
  std::shared_ptr<CheckpointReader> reader;  // its description is read once and kept here
};

// Throws Error(bad_input) unless the checkpoint is of the model that `config` describes, also where
// shapes alone do not show it.
void require_same_model(std::filesystem::path const& checkpoint, RunState const& state,
                        Config const& config, std::int64_t vocab);

// Decides by run.checkpoint.resume and run.init; nothing means a fresh start. Throws Error: damaged
// when the latest checkpoint is, bad_input when it is of another model or there are no weights to
// start from.
std::optional<Resumption> find_resumption(Config const& config, std::int64_t vocab);

// Warns of what keeps a run from going on to the bit. `arithmetic` is what the run uses now.
void say_difference(Resumption const& resumption, Arithmetic const& arithmetic,
                    Config const& config);

// Fills the model and says at which step and sample the run begins; `vocab` and `tokenizer` are
// those of its data. Throws Error.
RunState start_model(Config const& config, std::int64_t vocab, std::string const& tokenizer,
                     Arithmetic const& arithmetic, std::optional<Resumption> const& resumption,
                     ModelState& model, Comm& comm);

}  // namespace spillway
