#include <gtest/gtest.h>

#include "app/number_list.hpp"

namespace spillway::number_lists_test {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(NumberList, has_a_number_between_any_two_commas) {
  EXPECT_EQ(number_list("464"), Numbers{464});
  EXPECT_EQ(number_list("464,-3290,0"), (Numbers{464, -3290, 0}));
  EXPECT_EQ(wrong_in_list("5,-3,0", -3, 5), "");
}

TEST(NumberList, is_refused_with_its_first_mistake) {
  auto const no_number = [](std::string const& part, std::string const& text) {
    return "'" + part + "' of '" + text +
           "' is no whole number; give such numbers with commas between them";
  };
  EXPECT_EQ(wrong_in_list("", 0, 9), no_number("", ""));
  EXPECT_EQ(wrong_in_list("1,", 0, 9), no_number("", "1,"));
  EXPECT_EQ(wrong_in_list(",1", 0, 9), no_number("", ",1"));
  EXPECT_EQ(wrong_in_list("1,2x,y", 0, 9), no_number("2x", "1,2x,y"));
  EXPECT_EQ(wrong_in_list("1, 2", 0, 9), no_number(" 2", "1, 2"));
  EXPECT_EQ(wrong_in_list("1,12,x", 0, 9), "12 is not in range 0 to 9");
  EXPECT_EQ(wrong_in_list("-4", -3, 9), "-4 is not in range -3 to 9");
}

}  // namespace
}  // namespace spillway::number_lists_test
