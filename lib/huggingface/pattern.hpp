// Compares names with patterns; only for this folder's sources.
#pragma once

#include <string_view>

namespace spillway {

// Returns whether a name fits a pattern: '*' stands for any text and 'N' for a number in digits.
bool fits(std::string_view pattern, std::string_view name);

}  // namespace spillway
