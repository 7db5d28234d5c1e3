#include "base/permutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace spillway::permutation_test {
namespace {

std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed, std::uint64_t epoch) {
  Permutation const permutation(size, seed, epoch);
  std::vector<std::int64_t> images;
  for (std::int64_t i = 0; i < size; ++i) images.push_back(permutation(i));
  return images;
}

TEST(Permutation, each_element_comes_once) {
  for (std::int64_t size : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 255, 257, 1000, 4097, 100'003}) {
    auto images = order(size, 1, 0);
    std::sort(images.begin(), images.end());
    std::vector<std::int64_t> expected(static_cast<std::size_t>(size));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(images, expected) << size;
  }
}

TEST(Permutation, is_of_something_and_has_no_image_outside_its_range) {
  EXPECT_THROW(Permutation(0, 1, 1), std::logic_error);
  Permutation const two(2, 1, 1);
  EXPECT_EQ(two(0) + two(1), 1);
  for (std::int64_t const index : {-1, 2}) EXPECT_THROW(two(index), std::logic_error) << index;
}

TEST(Permutation, sizes_beyond_32_bits_stay_in_range_and_do_not_collide) {
  std::int64_t const size = (std::int64_t{1} << 40) + 12345;
  Permutation const permutation(size, 7, 3);
  std::vector<std::int64_t> images;
  for (std::int64_t i = 0; i < 1000; ++i) images.push_back(permutation(size - 1 - i));
  EXPECT_GE(*std::min_element(images.begin(), images.end()), 0);
  EXPECT_LT(*std::max_element(images.begin(), images.end()), size);
  std::sort(images.begin(), images.end());
  EXPECT_EQ(std::adjacent_find(images.begin(), images.end()), images.end());
}

TEST(Permutation, seeds_and_epochs_give_other_orders) {
  EXPECT_EQ(order(1000, 1, 0), order(1000, 1, 0));
  EXPECT_NE(order(1000, 1, 0), order(1000, 2, 0));
  EXPECT_NE(order(1000, 1, 0), order(1000, 1, 1));
}

// The mean of |image - index| over random permutations is n/3, its deviation about n/sqrt(20 n).
TEST(Permutation, elements_move_as_far_as_at_random) {
  for (std::int64_t size : {1000, 4096, 5000}) {
    auto const images = order(size, 3, 1);
    double moved = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      moved += static_cast<double>(std::abs(images[static_cast<std::size_t>(i)] - i));
    }
    auto const n = static_cast<double>(size);
    EXPECT_NEAR(moved / n, n / 3, 5 * n / std::sqrt(20 * n)) << size;
  }
}

}  // namespace
}  // namespace spillway::permutation_test
