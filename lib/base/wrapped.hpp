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

// Returns the same with a line break at the end.
std::string wrapped_line(std::string_view line, std::string_view indent = "  ",
                         std::size_t columns = kPageColumns);

// Returns a line of a table: the name, and the text from the column `width` on, also where it goes
// on in further lines. A long word stays beside the name.
std::string wrapped_row(std::string_view name, std::string_view text, std::size_t width);

// Returns the line up to its last character that is no blank.
std::string_view without_trailing_blanks(std::string_view line);

}  // namespace spillway
