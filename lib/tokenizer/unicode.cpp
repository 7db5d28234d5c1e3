#include "tokenizer/unicode.hpp"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "tokenizer/utf8.hpp"

namespace spillway {
namespace {

utf8proc_category_t category_of(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_between(utf8proc_category_t category, utf8proc_category_t first, utf8proc_category_t last) {
  return category >= first && category <= last;
}

int options_of(NormalForm form) {
  switch (form) {
    case NormalForm::nfc:
      return UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    case NormalForm::nfd:
      return UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
    case NormalForm::nfkc:
      return UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    case NormalForm::nfkd:
      return UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  }
  return 0;
}

// Letters in circles and squares are Alphabetic, though their category is that of symbols.
bool is_letter_in_circle(char32_t c) {
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
         (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

bool is_ascii(std::string_view text) {
  for (char const c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

}  // namespace

std::string normal_form(std::string_view text, NormalForm form) {
  if (is_ascii(text)) return std::string(text);
  utf8proc_uint8_t* made = nullptr;
  auto const bytes = utf8proc_map(reinterpret_cast<utf8proc_uint8_t const*>(text.data()),
                                  static_cast<utf8proc_ssize_t>(text.size()), &made,
                                  static_cast<utf8proc_option_t>(options_of(form)));
  std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> const owner(made, std::free);
  if (bytes < 0) throw std::bad_alloc();  // valid UTF-8 fails only so
  return {reinterpret_cast<char const*>(made), static_cast<std::size_t>(bytes)};
}

bool is_white_space(char32_t c) {
  return (c >= 0x9 && c <= 0xD) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_mark(char32_t c) {
  return is_between(category_of(c), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}

bool is_nonspacing_mark(char32_t c) {
  return category_of(c) == UTF8PROC_CATEGORY_MN;
}

bool is_punctuation(char32_t c) {
  return is_between(category_of(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_other(char32_t c) {
  return is_between(category_of(c), UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool is_word_character(char32_t c) {
  auto const category = category_of(c);
  return is_between(category, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO) || is_mark(c) ||
         category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D || is_letter_in_circle(c);
}

bool is_number(char32_t c) {
  return is_between(category_of(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

void append_lower_case(char32_t c, std::string& to) {
  constexpr char32_t dotted_capital_i = 0x130;  // the only one whose lower case is two characters
  if (c == dotted_capital_i) {
    to += "i\xCC\x87";
  } else {
    append_utf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))), to);
  }
}

std::size_t first_grapheme_bytes(std::string_view text) {
  auto [before, bytes] = first_code_point(text);
  utf8proc_int32_t state = 0;
  while (bytes < text.size()) {
    auto const next = first_code_point(text.substr(bytes));
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                         static_cast<utf8proc_int32_t>(next.value), &state))
      break;
    before = next.value;
    bytes += next.bytes;
  }
  return bytes;
}

}  // namespace spillway
