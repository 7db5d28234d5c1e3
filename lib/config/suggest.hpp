// Finds the name for the question "did you mean ...?" in a message about an unknown name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// Returns how many letters must at least be inserted, deleted, replaced or swapped with their
// neighbour to turn `a` into `b` (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b);

// Returns the name that resembles `wrong` most: it ends with it after a dot, is equal after the
// last dot, or is a few edits away. Returns an empty text if no name resembles it.
std::string nearest_name(std::string_view wrong, std::vector<std::string> const& names);

// Returns the word of a value that resembles `wrong` most: it is the same but for capitals, `-` and
// `_`, or a few edits away, or what `wrong` begins with before one of these. Returns an empty text
// if none resembles it.
std::string nearest_word(std::string_view wrong, std::vector<std::string> const& words);

// Returns "did you mean NAME?".
std::string asked(std::string const& name);
// Returns the same behind "; ", or an empty text for an empty name.
std::string did_you_mean(std::string const& name);

}  // namespace spillway
