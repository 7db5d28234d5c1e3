// Finds the name for the question "did you mean ...?" in a message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// Returns how many letters must be inserted, deleted, replaced or swapped with their neighbour to
// turn one text into the other (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b);

// Returns the name nearest to `wrong`: few edits away, or with the same last part in another group.
// Returns an empty text if none is near.
std::string nearest_name(std::string_view wrong, std::vector<std::string> const& names);

}  // namespace spillway
