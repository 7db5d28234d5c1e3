// Bytes that are no UTF-8 become what Python makes of them with errors="replace".
#include <gtest/gtest.h>

#include "tokenizer/utf8.hpp"

namespace spillway::repaired_text_test {
namespace {

using namespace std::string_literals;

constexpr char const* kReplaced = "\xEF\xBF\xBD";

std::string replaced(int times) {
  std::string text;
  while (times-- > 0) text += kReplaced;
  return text;
}

TEST(RepairedText, sound_text_stays) {
  for (auto const& text : {""s, "a"s, "\0b"s, "h\xC3\xA9"s, "\xE2\x82\xAC"s, "\xF0\x9F\x98\x80"s,
                           "\xF4\x8F\xBF\xBF"s, "\xED\x9F\xBF"s})
    EXPECT_EQ(as_utf8(text), text);
}

TEST(RepairedText, every_longest_part_of_a_character_is_replaced_once) {
  EXPECT_EQ(as_utf8("\xFF"), replaced(1));
  EXPECT_EQ(as_utf8("\xC0\x80"), replaced(2));  // never the first byte of a character
  EXPECT_EQ(as_utf8("\xE2\x82"), replaced(1));  // cut short
  EXPECT_EQ(as_utf8("\xE2\x82(\xF0\x9F\x98"), replaced(1) + "(" + replaced(1));
  EXPECT_EQ(as_utf8("\xED\xA0\x80"), replaced(3));      // a surrogate
  EXPECT_EQ(as_utf8("\xE0\x9F\xBF"), replaced(3));      // too long for its character
  EXPECT_EQ(as_utf8("\xF4\x90\x80\x80"), replaced(4));  // beyond U+10FFFF
  EXPECT_EQ(as_utf8("a\x80z"), "a" + replaced(1) + "z");
}

TEST(RepairedText, characters_are_read_as_they_are_written) {
  for (char32_t const c : {U'\0', U'a', U'\u00E9', U'\u20AC', U'\U0001F600', U'\U0010FFFF'}) {
    std::string text = "x";
    append_utf8(c, text);
    EXPECT_EQ(last_code_point(text).value, c);
    EXPECT_EQ(first_code_point(std::string_view(text).substr(1)).value, c);
    EXPECT_EQ(first_code_point(std::string_view(text).substr(1)).bytes, text.size() - 1);
  }
}

}  // namespace
}  // namespace spillway::repaired_text_test
