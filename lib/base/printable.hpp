// Makes text safe for a terminal. Text from files and names may hold bytes that a terminal would
// obey instead of showing them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spillway {

// Returns `text` with \xNN for each byte of a control character other than \n and \t, and for each
// byte that is not valid UTF-8.
std::string printable(std::string_view text);

// Returns whether all of the text is valid UTF-8 without a zero byte.
bool is_text(std::string_view text);

// Returns the number of bytes of `text`, less those of an incomplete UTF-8 character at its end.
std::size_t whole_characters_bytes(std::string_view text);

}  // namespace spillway
