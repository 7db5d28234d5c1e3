// Text as tokens of models that were trained on bytes, and back. Words in it stand for special
// tokens: [MASK] for the one that hides others, <extra_id_N> for the sentinel of a sequence's span
// N, counted from 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "samples/recipe.hpp"

namespace spillway {

// As the recipe's objective has texts: an encoder's end with its eos, if it has one. Throws
// Error(bad_input) for sentinels that the vocabulary does not have.
std::vector<std::int32_t> tokens_of(std::string_view text, Recipe const& recipe);

// A byte, the word of a sentinel, or nothing for other tokens that are no text.
std::string text_of(std::int32_t token, Recipe const& recipe);

}  // namespace spillway
