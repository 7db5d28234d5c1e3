#include "base/checked.hpp"

#include <gtest/gtest.h>

namespace spillway::checked_test {
namespace {

constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

TEST(Checked, products_are_whole_or_none) {
  EXPECT_EQ(product({}), 1);
  EXPECT_EQ(product({3, 4, 5}), 60);
  EXPECT_EQ(product({kMost, 1}), kMost);
  EXPECT_EQ(product({std::int64_t{1} << 31, std::int64_t{1} << 31, 2}), std::nullopt);
  EXPECT_EQ(product({std::int64_t{1} << 62, 4, 2}), std::nullopt);  // wraps to 0
  EXPECT_EQ(product({kMost, kMost, 0}), 0);
}

TEST(Checked, clamped_numbers_stay_at_the_most) {
  EXPECT_EQ(clamped_product(6, 7), 42);
  EXPECT_EQ(clamped_product(kMost, 2), kMost);
  EXPECT_EQ(clamped_sum(6, 7), 13);
  EXPECT_EQ(clamped_sum(kMost, 1), kMost);
  EXPECT_EQ(clamped_whole(7.9), 7);
  EXPECT_EQ(clamped_whole(0x1p62), std::int64_t{1} << 62);
  EXPECT_EQ(clamped_whole(0x1p63), kMost);
  EXPECT_EQ(clamped_whole(std::numeric_limits<double>::infinity()), kMost);
}

}  // namespace
}  // namespace spillway::checked_test
