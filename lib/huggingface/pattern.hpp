// Patterns of names; only for this folder's sources.
#pragma once

#include <string_view>

namespace spillway {

// Whether a name fits a pattern, in which '*' stands for any text and 'N' for a number in digits.
bool fits(std::string_view pattern, std::string_view name);

}  // namespace spillway
