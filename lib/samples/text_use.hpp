// These functions say how much of a text a recipe leaves unused, and whether it has anything to
// predict. Both depend on where documents begin.
#pragma once

#include <string>

#include "io/tokens/token_set.hpp"
#include "samples/text_windows.hpp"

namespace spillway {

// Returns whether any window can have a target. It does not check which tokens `masked` would hide.
// Throws what TokenSet throws if it cannot read where documents begin.
bool can_predict(SampledText const& text, Recipe const& recipe);

// Returns a line that tells the user how many tokens no window uses and why, or "" if there are
// none.
std::string describe_unused(SampledText const& text, Recipe const& recipe, std::string const& key);

}  // namespace spillway
