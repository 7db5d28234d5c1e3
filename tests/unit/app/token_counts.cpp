#include <gtest/gtest.h>

#include "app/token_count.hpp"

namespace spillway::token_counts_test {
namespace {

TEST(TokenCount, is_a_number_with_a_unit_of_thousands) {
  EXPECT_EQ(token_count("100B"), 100e9);
  EXPECT_EQ(token_count("1.5T"), 1.5e12);
  EXPECT_EQ(token_count("1.1B"), 1.1e9);
  EXPECT_EQ(token_count("300M"), 300e6);
  EXPECT_EQ(token_count("2K"), 2000);
  EXPECT_EQ(token_count("12345"), 12345);
  EXPECT_EQ(token_count("1e9"), 1e9);
  EXPECT_EQ(wrong_token_count("100B"), "");
}

TEST(TokenCount, is_refused_with_what_to_give) {
  for (std::string const text :
       {"", "B", "0", "-5B", "100G", "100 B", "nan", "inf", "0.1", "2000000T", "1,5T"})
    EXPECT_EQ(wrong_token_count(text), "'" + text +
                                           "' is no number of tokens; give one such as 300M, 100B "
                                           "or 1.5T (units: K, M, B, T)");
}

}  // namespace
}  // namespace spillway::token_counts_test
