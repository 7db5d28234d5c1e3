// The token files of a run and the order in which it sees them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "io/tokens/token_set.hpp"
#include "samples/batches.hpp"
#include "samples/data_order.hpp"
#include "samples/recipe.hpp"
#include "samples/sample_order.hpp"
#include "samples/text_windows.hpp"
#include "state/run_state.hpp"

namespace spillway {

struct Data {
  // What completes an epoch that was under way when data.train changed: samples before `end`.
  struct Rest {
    SampledText text;
    DataOrder order;
    std::int64_t end = 0;
    std::vector<std::int64_t> starts;  // of its files, in `train`
  };

  SampledText train;
  std::optional<SampledText> valid;
  Recipe recipe;
  SampleOrder samples;  // from the beginning of the run, as a checkpoint keeps it
  std::vector<Rest> rests = {};
  DataOrder order;                     // of `train`, behind them
  std::int64_t vocab = 0;              // of the model
  std::vector<std::string> said = {};  // lines for the user: which files are left out, or repeated

  // What samples are taken from; refers to this Data.
  std::vector<TextOrder> texts() const;
};

// Opens what the Config names. Throws Error(bad_input) for files that are missing, foreign, too
// short for one sequence, of a larger vocabulary than the model's, without the documents that
// data.pack keeps apart, or with such as leave nothing to predict; or where nothing is left of
// data.train without data.valid's.
Data open_data(Config const& config);

// Makes the samples those of a run that goes on from `state`. Returns lines for the user where the
// data are others than they were. Throws Error(bad_input) where they cannot be taken, and
// Error(damaged) that names `source`.
std::vector<std::string> go_on(Data& data, Config const& config, RunState const& state,
                               std::string const& source);

// The validation set of a model with `vocab` tokens. Throws as open_data does.
SampledText open_valid(Config const& config, std::int64_t vocab, Recipe const& recipe);

}  // namespace spillway
