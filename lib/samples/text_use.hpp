// What a recipe makes of a text, by where its documents begin: how much of it no sequence has, and
// whether anything can be predicted at all.
#pragma once

#include <string>

#include "io/tokens/token_set.hpp"
#include "samples/text_windows.hpp"

namespace spillway {

// Whether some window can have a target. What `masked` hides is not looked at. Throws what reading
// where documents begin does.
bool can_predict(SampledText const& text, Recipe const& recipe);

// A line for the user about the tokens that no window uses, and why; "" where there are none.
std::string describe_unused(SampledText const& text, Recipe const& recipe, char const* key);

}  // namespace spillway
