// The alphabet of byte-level tokenizers has a printable character for each byte: bytes that are
// printable in Latin-1 stand for themselves; only for this folder's sources.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spillway {

// Appends the characters of all bytes of a text.
void append_in_alphabet(std::string_view bytes, std::string& to);
// Returns the bytes that the characters of a text stand for, or nothing if one is none of them.
std::optional<std::string> bytes_of_alphabet(std::string_view text);

}  // namespace spillway
