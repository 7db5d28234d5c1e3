// Whole numbers with commas between them, as options take them: "464,3290".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spillway {

// What is wrong with the text, or nothing. No place between commas may be empty.
std::string wrong_in_list(std::string const& text, std::int64_t least, std::int64_t most);

// The numbers of a text with which nothing is wrong.
std::vector<std::int64_t> number_list(std::string const& text);

}  // namespace spillway
