// Reads the options that are lists with commas between what they list, such as "464,3290".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

// Returns what lies before, between and after the commas of `text`, which must live as long.
std::vector<std::string_view> list_parts(std::string_view text);

// Returns "" if `text` is a list of whole numbers from `least` to `most` with commas between them,
// otherwise what is wrong with it.
std::string wrong_in_list(std::string const& text, std::int64_t least, std::int64_t most);

// Returns the numbers of a text in which wrong_in_list finds nothing wrong.
std::vector<std::int64_t> number_list(std::string const& text);

}  // namespace spillway
