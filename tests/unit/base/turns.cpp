// Which of several test files have their turn in a sample.
#include <gtest/gtest.h>

#include <optional>

#include "tests/support/sample.hpp"

namespace spillway::test::turns_test {
namespace {

TEST(Turns, are_one_of_n_in_a_sample_or_all) {
  int with_turn = 0;
  for (auto const* text : {"0/3", "1/3", "2/3"}) with_turn += is_turn(text).value();
  EXPECT_EQ(with_turn, takes_all() ? 3 : 1);
  EXPECT_EQ(is_turn("0/1"), std::optional(true));
}

TEST(Turns, that_are_malformed_are_no_turns) {
  for (auto const* text :
       {"", "1", "1/", "/2", "a/b", "0/0", "2/2", "-1/2", "0/-2", "0/2x", "0/2 "})
    EXPECT_EQ(is_turn(text), std::nullopt) << text;
}

}  // namespace
}  // namespace spillway::test::turns_test
