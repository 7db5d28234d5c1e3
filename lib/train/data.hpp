// The token files of a run and the order in which it sees them.
#pragma once

#include <memory>
#include <optional>

#include "config/config.hpp"
#include "io/tokens/token_set.hpp"
#include "train/data_order.hpp"
#include "train/recipe.hpp"

namespace spillway {

struct Data {
  TokenSet train;
  std::optional<TokenSet> valid;
  Recipe recipe;
  DataOrder order;
  std::int64_t vocab = 0;  // of the model

  std::int64_t valid_windows() const;
};

// Opens what the Config names. Throws Error(bad_input) for files that are missing, foreign, too
// short for one sequence, of a larger vocabulary than the model's, or without the documents that
// data.pack keeps apart.
Data open_data(Config const& config);

// The windows of a set of tokens, of which the last has a successor.
std::int64_t windows_of(TokenSet const& tokens, Recipe const& recipe);

// The validation set of a model with `vocab` tokens. Throws as open_data does.
TokenSet open_valid(Config const& config, std::int64_t vocab, Recipe const& recipe);

}  // namespace spillway
