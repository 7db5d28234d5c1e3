// Text as a terminal may have it. What comes from files and names may hold bytes that a terminal
// obeys instead of showing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spillway {

// Control characters other than \n and \t, and bytes that are no UTF-8, become \xNN each; all else
// stays as it is.
std::string printable(std::string_view text);

// Whether all of it is UTF-8, without a zero byte.
bool is_text(std::string_view text);

// How many bytes stand before a character of UTF-8 that is cut short at the end.
std::size_t whole_characters_bytes(std::string_view text);

}  // namespace spillway
