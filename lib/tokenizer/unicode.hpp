// Says what Unicode knows of characters, and brings text into its normal forms (by utf8proc); only
// for this folder's sources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spillway {

enum class NormalForm : std::uint8_t { nfc, nfd, nfkc, nfkd };

// Returns the normal form of valid UTF-8.
std::string normal_form(std::string_view text, NormalForm form);

bool is_white_space(char32_t c);      // has the property White_Space
bool is_mark(char32_t c);             // is of a category M*
bool is_nonspacing_mark(char32_t c);  // is of the category Mn
bool is_punctuation(char32_t c);      // is of a category P*
bool is_other(char32_t c);            // is of a category C*, but not unassigned
bool is_word_character(char32_t c);   // is \w of regular expressions
bool is_number(char32_t c);           // is of a category N*
// Appends the lower case of a character, whatever stands around it.
void append_lower_case(char32_t c, std::string& to);

// Returns how many bytes the first grapheme of a text has, which must be valid UTF-8 and not empty.
std::size_t first_grapheme_bytes(std::string_view text);

}  // namespace spillway
