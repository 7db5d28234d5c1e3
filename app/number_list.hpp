// Options take lists of whole numbers with commas between them, such as "464,3290".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spillway {

// Returns what is wrong with the text, or "". Every place between commas must have a number.
std::string wrong_in_list(std::string const& text, std::int64_t least, std::int64_t most);

// Returns the numbers of a text in which wrong_in_list finds nothing wrong.
std::vector<std::int64_t> number_list(std::string const& text);

}  // namespace spillway
