// Breaks lines at spaces, so that a terminal or the log of a batch job shows them whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spillway {

inline constexpr std::size_t kPageColumns = 80;

// Returns the line in as many lines as it takes, of which those after the first begin with
// `indent`. None is longer than `columns` bytes, unless a word is.
std::string wrapped(std::string_view line, std::string_view indent = "  ",
                    std::size_t columns = kPageColumns);

// Returns the line up to its last character that is no blank.
std::string_view without_trailing_blanks(std::string_view line);

}  // namespace spillway
