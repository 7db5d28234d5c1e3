// How batches are made of a text: the objective with all of its numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "model/objective.hpp"

namespace spillway {

// Tokens that stand for something else than text; -1: there is none.
struct SpecialIds {
  std::int32_t mask = -1;
  std::int32_t pad = 0;              // what rows without a token hold
  std::int32_t eos = -1;             // ends a text
  std::int32_t first_sentinel = -1;  // the others count down from it
  std::int32_t sentinels = 0;
};

struct Recipe {
  Objective objective = Objective::next;
  bool pack = false;                       // whether attention stays inside documents
  std::vector<std::int64_t> lengths = {};  // rows of a sequence, in every stack
  std::int64_t window = 0;                 // tokens of the text that a sequence is made of
  std::int64_t words = 0;  // ids below this are text: random tokens are drawn of them
  SpecialIds ids = {};
  std::uint64_t seed = 0;
};

// How many ids the model has beside those of the token file: the special ones that `auto` places.
std::int64_t special_count(DataConfig const& data, Objective objective);

// Throws Error(bad_input) that names an id which the objective needs and `data` leaves to auto:
// weights that were imported have learnt another one.
void require_own_ids(DataConfig const& data, Objective objective);

// For a model with `vocab` ids, of which the special ones that are `auto` are the highest. Throws
// Error(bad_input) for special ids that the vocabulary does not have and, with the tokenizer of a
// model that was imported, what require_own_ids throws.
Recipe recipe_of(Config const& config, Objective objective, std::int64_t vocab,
                 std::string_view tokenizer);

}  // namespace spillway
