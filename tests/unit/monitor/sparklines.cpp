// Rows of numbers as characters.
#include <gtest/gtest.h>

#include <vector>

#include "monitor/sparkline.hpp"

namespace spillway::test::sparklines_test {
namespace {

using Numbers = std::vector<double>;

TEST(Sparklines, have_a_character_for_each_number_by_its_height) {
  EXPECT_EQ(sparkline(Numbers{0, 1, 2, 3, 4, 5, 6, 7}, 80, false), "_.:-=+*#");
  EXPECT_EQ(sparkline(Numbers{7, 0}, 80, true), "█▁");
  EXPECT_EQ(sparkline(Numbers{}, 80, true), "");
  EXPECT_EQ(sparkline(Numbers{3, 3, 3}, 80, false), "___");
  EXPECT_EQ(sparkline(Numbers{3, 4}, 0, false), "");
}

TEST(Sparklines, have_means_of_neighbours_where_there_is_no_room) {
  EXPECT_EQ(sparkline(Numbers{0, 0, 7, 7, 3, 4}, 3, false), "_#=");
}

// Of 40 numbers two are a twentieth.
TEST(Sparklines, are_not_flattened_by_how_a_loss_begins) {
  Numbers numbers(40, 1);
  numbers[0] = numbers[1] = 1000;
  for (std::size_t i = 2; i < 20; ++i) numbers[i] = 2;
  auto const line = sparkline(numbers, 40, false);
  EXPECT_EQ(line, std::string(20, '#') + std::string(20, '_'));
}

}  // namespace
}  // namespace spillway::test::sparklines_test
