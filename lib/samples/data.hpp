// Opens the token files of a run and says in which order the run sees them.
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
#include "samples/train_files.hpp"
#include "state/run_state.hpp"

namespace spillway {

struct Data {
  // A Rest completes an epoch that was under way when data.train changed. Its samples come before
  // `end`.
  struct Rest {
    SampledText text;
    DataOrder order;
    std::int64_t end = 0;
    std::vector<std::int64_t> starts;  // where its files begin in `train`
  };

  SampledText train;
  std::optional<SampledText> valid;
  Recipe recipe;
  SampleOrder samples;  // the order of the whole run, as checkpoints record it
  std::vector<Rest> rests = {};
  DataOrder order;         // the order of the samples of `train`, which follow all rests
  std::int64_t vocab = 0;  // the vocabulary of the model
  std::vector<std::string> said = {};  // lines for the user about files left out or repeated
  std::vector<MixedSource> mix = {};   // the parts of `train`; empty if it has no weights

  // Returns the texts of all samples, in the order of the samples. The result refers to this Data.
  std::vector<TextOrder> texts() const;
};

// Opens the files that the Config names. Throws Error(bad_input) if a file is missing, has a
// foreign format or a larger vocabulary than the model, or if a text is too short for one sequence.
// Also throws it if data.pack needs documents that a file does not record, if nothing is left to
// predict, or if all files of data.train, or of an element of it with a weight, are in data.valid
// too.
Data open_data(Config const& config);

// Makes `data` continue the samples of the run that has reached `state`. Returns lines for the user
// if the data have changed. Throws Error(bad_input) if the run cannot go on with the changed data,
// and Error(damaged), which names `source`, if the recorded order is not valid.
std::vector<std::string> go_on(Data& data, Config const& config, RunState const& state,
                               std::string const& source);

// Opens the validation set of a model with `vocab` tokens, of which no two elements of data.valid
// share a window. Throws Error(bad_input) if the set cannot be used, for example if a file is
// missing or has a larger vocabulary than the model.
SampledText open_valid(Config const& config, std::int64_t vocab, Recipe const& recipe);

// Opens the elements of data.valid, each as a text of its own. Throws what open_valid throws.
std::vector<SampledText> open_valid_texts(Config const& config, std::int64_t vocab,
                                          Recipe const& recipe);

}  // namespace spillway
