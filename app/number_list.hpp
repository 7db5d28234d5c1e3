// Options take lists of whole numbers with commas between them, such as "464,3290".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spillway {

// Returns "" if every place between commas has a whole number from `least` to `most`, otherwise
// what is wrong with the text.
std::string wrong_in_list(std::string const& text, std::int64_t least, std::int64_t most);

// Returns the numbers of a text in which wrong_in_list finds nothing wrong.
std::vector<std::int64_t> number_list(std::string const& text);

}  // namespace spillway
