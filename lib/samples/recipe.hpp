// A Recipe says how batches are made of a text: by which objective and with which numbers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "model/objective.hpp"

namespace spillway {

// These are the ids of tokens that are not text. An id of -1 means that there is no such token.
struct SpecialIds {
  std::int32_t mask = -1;
  std::int32_t pad = 0;              // the token of rows that hold no token of the text
  std::int32_t eos = -1;             // the token that ends a text
  std::int32_t first_sentinel = -1;  // the first of the sentinels, whose ids count down from it
  std::int32_t sentinels = 0;
};

struct Recipe {
  Objective objective = Objective::next;
  bool pack = false;         // says whether attention stays inside documents
  bool learns_seen = false;  // predicts what a file lets only be seen, instead of what is learned
  std::vector<std::int64_t> lengths = {};  // how many rows a sequence has in each stack
  std::int64_t window = 0;                 // the tokens of the text that make a sequence, at most
  std::int64_t words = 0;  // ids below this are text, and random tokens are drawn from them
  SpecialIds ids = {};
  std::uint64_t seed = 0;
};

// Returns how many special ids the vocabulary needs beyond those of the token file, because `auto`
// places them behind its ids.
std::int64_t special_count(DataConfig const& data, Objective objective);

// Throws Error(bad_input), which names an id, if the objective needs it and `data` leaves it to
// `auto`. Imported weights have learned a certain id, which `auto` does not know.
void require_own_ids(DataConfig const& data, Objective objective);

// Makes the recipe of a model with `vocab` ids. Special ids that are `auto` become the highest
// ones. Throws Error(bad_input) for special ids that the vocabulary does not have or that are
// equal, and, if `tokenizer` says that the model was imported with its own tokenizer, for needed
// ids that are `auto`.
Recipe recipe_of(Config const& config, Objective objective, std::int64_t vocab,
                 std::string_view tokenizer);

}  // namespace spillway
