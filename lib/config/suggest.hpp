// "did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// Letters to insert, delete, replace or swap with their neighbour to turn one text into the other
// (optimal string alignment).
int edit_distance(std::string_view a, std::string_view b);

// The name nearest to `wrong`: few edits away, or with the same last part in another group. Empty
// when none is near.
std::string nearest_name(std::string_view wrong, std::vector<std::string> const& names);

}  // namespace spillway
