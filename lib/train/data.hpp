// The token files of a run and the order in which it sees them.
#pragma once

#include <memory>
#include <optional>

#include "config/config.hpp"
#include "io/tokens/token_set.hpp"
#include "train/data_order.hpp"

namespace spillway {

struct Data {
  TokenSet train;
  std::optional<TokenSet> valid;
  DataOrder order;
  std::int64_t vocab = 0;  // of the model

  std::int64_t valid_windows(std::int64_t sequence) const;
};

// Opens what the Config names. Throws Error(bad_input) for files that are missing, foreign, too
// short for one sequence, or of a larger vocabulary than the model's.
Data open_data(Config const& config);
TokenSet open_valid(Config const& config, std::int64_t vocab);

}  // namespace spillway
