// Reads numbers of tokens, such as "100B".
#pragma once

#include <string>

namespace spillway {

// Returns "" if `text` is a number of tokens above 0, otherwise what is wrong with it. K, M, B and
// T stand for thousands, millions, billions (10^9) and trillions (10^12).
std::string wrong_token_count(std::string const& text);

// Returns the number of a text in which wrong_token_count finds nothing wrong.
double token_count(std::string const& text);

}  // namespace spillway
