// Converts text to tokens and back for models that were trained on bytes. Some words stand for
// special tokens: [MASK] for the token that hides others, and <extra_id_N> for the sentinel of span
// N, counted from 0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "samples/recipe.hpp"

namespace spillway {

// Returns tokens as the recipe's objective expects them. For `spans`, they end with eos if the
// recipe has one. Throws Error(bad_input) for sentinels that the vocabulary does not have.
std::vector<std::int32_t> tokens_of(std::string_view text, Recipe const& recipe);

// Returns the one byte that a token stands for, the word of a sentinel, or "" for any other token.
std::string text_of(std::int32_t token, Recipe const& recipe);

}  // namespace spillway
