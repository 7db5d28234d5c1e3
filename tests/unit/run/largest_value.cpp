#include "run/largest_value.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace spillway::largest_value_test {
namespace {

constexpr std::int64_t kMost = 1 << 20;

// Values up to `limit` fit, and the tokens a second are most at `peak`.
std::vector<TriedValue> tried(std::int64_t first, std::int64_t limit, std::int64_t peak = 1) {
  return try_values(first, kMost, [&](std::int64_t value) {
    EXPECT_GE(value, 1);
    EXPECT_LE(value, kMost);
    auto const off = static_cast<double>(std::abs(value - peak));
    return TriedValue{value, value <= limit, 1, 1 / (1 + off)};
  });
}

TEST(LargestValue, is_found_from_wherever_the_search_begins) {
  for (std::int64_t const first : {1, 7, 48, 1000}) {
    for (std::int64_t const limit : {1, 2, 12, 47, 48, 63, 64, 1000, 123'456}) {
      auto const all = tried(first, limit);
      auto const* const largest = largest_of(all);
      ASSERT_NE(largest, nullptr) << first << " " << limit;
      EXPECT_LE(largest->value, limit);
      EXPECT_LE(limit - largest->value, limit < 64 ? 0 : limit / 64) << first << " " << limit;
      EXPECT_LE(all.size(), 40u);
      EXPECT_TRUE(std::ranges::is_sorted(all, std::less<>(), &TriedValue::value));
    }
  }
}

TEST(LargestValue, is_most_if_all_fit_and_none_if_none_does) {
  EXPECT_EQ(largest_of(tried(3, kMost))->value, kMost);
  EXPECT_EQ(largest_of(tried(3, 0)), nullptr);
  EXPECT_EQ(fastest_of(tried(3, 0)), nullptr);
}

TEST(LargestValue, need_not_be_the_fastest) {
  EXPECT_EQ(fastest_of(tried(8, 100, 16))->value, 16);
  EXPECT_EQ(fastest_of(tried(8, 100, 1000))->value, largest_of(tried(8, 100))->value);
}

}  // namespace
}  // namespace spillway::largest_value_test
