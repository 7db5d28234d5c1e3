// What a recipe makes of a text, by where its documents begin: how much of it no sequence has, and
// whether anything can be predicted at all.
#pragma once

#include <cstdint>
#include <string>

#include "io/tokens/token_set.hpp"
#include "train/recipe.hpp"

namespace spillway {

// The windows of a set of tokens, of which the last has a successor.
std::int64_t windows_of(TokenSet const& tokens, Recipe const& recipe);

// Whether the first `windows` windows can have a target. What `masked` hides is not looked at.
bool can_predict(TokenSet const& tokens, Recipe const& recipe, std::int64_t windows);

// How many tokens of the windows [first, first + windows) become a part of a sequence. Fewer than
// they have where spans of packed documents need more rows than the sequence has. Any thread.
std::int64_t tokens_used(TokenSet const& tokens, Recipe const& recipe, std::int64_t first,
                         std::int64_t windows);

// A line for the user about the tokens of all windows that are not used, and what to change; ""
// where all are. Of a very long text a part is looked at, spread over it.
std::string describe_unused(TokenSet const& tokens, Recipe const& recipe, char const* key);

// A line for the user about the end of the text, which fills no window; "" where there is none.
std::string describe_rest(TokenSet const& tokens, Recipe const& recipe, char const* key);

}  // namespace spillway
