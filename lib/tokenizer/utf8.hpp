// Reads and writes UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spillway {

struct CodePoint {
  char32_t value;
  std::size_t bytes;  // how many bytes of the text it takes
};

// Returns the character at the beginning of `text`, which must be valid UTF-8 and not empty.
CodePoint first_code_point(std::string_view text);
// Returns the character at the end of `text`, which must be valid UTF-8 and not empty.
CodePoint last_code_point(std::string_view text);

inline bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void append_utf8(char32_t code_point, std::string& to);

// Returns `text` with U+FFFD for each maximal part that is no UTF-8, as Python's errors="replace"
// does.
std::string as_utf8(std::string_view text);

}  // namespace spillway
