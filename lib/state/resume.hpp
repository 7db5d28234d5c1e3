// A run starts new, with another run's weights, or from its own last checkpoint.
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
  bool whole = true;                         // if false, only the weights are taken
  std::shared_ptr<CheckpointReader> reader;  // has read the checkpoint's description
};

// Throws Error(bad_input) unless the checkpoint is of the model that `config` describes. This also
// finds differences that do not change shapes.
void require_same_model(std::filesystem::path const& checkpoint, RunState const& state,
                        Config const& config, std::int64_t vocab);

// Finds the checkpoint that run.checkpoint.resume and run.init ask for. Returns nothing if the run
// starts new. Throws Error: damaged if the latest checkpoint is damaged, bad_input if it is of
// another model or if there are no weights to start from.
std::optional<Resumption> find_resumption(Config const& config, std::int64_t vocab);

// Warns if the continued run cannot have the same bits as an uninterrupted one, and says why.
// `arithmetic` describes this run.
void say_difference(Resumption const& resumption, Arithmetic const& arithmetic,
                    Config const& config);

// Fills the model and returns the step and sample at which the run begins. `vocab` and `tokenizer`
// describe the run's data. Throws Error.
RunState start_model(Config const& config, std::int64_t vocab, std::string const& tokenizer,
                     Arithmetic const& arithmetic, std::optional<Resumption> const& resumption,
                     ModelState& model, Comm& comm);

}  // namespace spillway
