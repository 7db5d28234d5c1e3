#include "base/wrapped.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace spillway::wrapped_test {
namespace {

std::string words(std::size_t count, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += (i > 0 ? " " : "") + std::string(length, static_cast<char>('a' + i % 26));
  return text;
}

TEST(Wrapped, leaves_a_line_that_fits) {
  for (auto const& line : {std::string(), std::string("  a b"), words(8, 9) + "x"})
    EXPECT_EQ(wrapped(line), line);
}

TEST(Wrapped, breaks_at_spaces_and_loses_no_word) {
  for (std::size_t length = 1; length < 30; ++length) {
    auto const line = words(100, length);
    auto const text = wrapped(line, "    ");
    std::istringstream lines(text);
    std::string joined;
    for (std::string part; std::getline(lines, part);) {
      EXPECT_LE(part.size(), kPageColumns);
      EXPECT_EQ(part.starts_with("    "), !joined.empty()) << part;
      joined += joined.empty() ? part : part.substr(3);
    }
    EXPECT_EQ(joined, line);
  }
}

TEST(Wrapped, fills_a_line_to_its_last_column) {
  auto const first = words(8, 9) + "x";
  ASSERT_EQ(first.size(), kPageColumns);
  EXPECT_EQ(wrapped(first + " more", ""), first + "\nmore");
}

TEST(Wrapped, leaves_no_spaces_at_the_end_of_a_line) {
  EXPECT_EQ(wrapped("ab   cd", "", 4), "ab\ncd");
}

TEST(Wrapped, rows_go_on_below_their_text) {
  EXPECT_EQ(wrapped_row("  name", "text", 10), "  name    text\n");
  EXPECT_EQ(wrapped_row("  name", words(8, 9), 10),
            "  name    " + words(7, 9) + "\n          hhhhhhhhh\n");
  std::string const path(80, 'p');
  EXPECT_EQ(wrapped_row("  name", path + " x", 10), "  name    " + path + "\n          x\n");
}

TEST(Wrapped, leaves_words_whole_that_no_line_holds) {
  std::string const path(200, 'p');
  EXPECT_EQ(wrapped("  " + path), "  " + path);
  EXPECT_EQ(wrapped("in " + path + " there"), "in\n  " + path + "\n  there");
}

}  // namespace
}  // namespace spillway::wrapped_test
