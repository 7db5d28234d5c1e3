// Several texts in given proportions: how weights become shares, and which text a sample is of.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "samples/data_order.hpp"
#include "samples/mix.hpp"

namespace spillway::mixes_test {
namespace {

using Shares = std::vector<std::int64_t>;

Shares shares(std::vector<double> const& weights) {
  return mix_shares(weights);
}

TEST(MixShares, are_the_smallest_that_weights_divide) {
  EXPECT_EQ(shares({3, 1}), (Shares{3, 1}));
  EXPECT_EQ(shares({6, 2}), (Shares{3, 1}));
  EXPECT_EQ(shares({0.7, 0.2, 0.1}), (Shares{7, 2, 1}));
  EXPECT_EQ(shares({5}), (Shares{1}));
}

TEST(MixShares, of_other_weights_are_as_near_as_a_block_allows) {
  auto const some = shares({std::sqrt(2.0), 1, 3e-5});
  EXPECT_EQ(std::accumulate(some.begin(), some.end(), std::int64_t{0}), kMostMixed);
  EXPECT_NEAR(static_cast<double>(some[0]) / static_cast<double>(some[1]), std::sqrt(2.0), 1e-3);
  EXPECT_EQ(some[2], 0) << "too small a weight";
}

TEST(Mix, has_its_shares_in_every_block_in_another_order) {
  Mix const mix({3, 1, 4}, 5);
  std::set<std::vector<std::size_t>> orders;
  for (std::int64_t block = 0; block < 20; ++block) {
    std::vector<std::size_t> texts;
    for (std::int64_t i = 0; i < 8; ++i) texts.push_back(mix.draw(8 * block + i).text);
    EXPECT_EQ(std::ranges::count(texts, 0u), 3);
    EXPECT_EQ(std::ranges::count(texts, 1u), 1);
    orders.insert(texts);
  }
  EXPECT_GT(orders.size(), 10u);
  EXPECT_THROW(Mix({1, 0}, 5), std::logic_error);
}

TEST(Mix, numbers_each_texts_samples_without_a_gap) {
  Mix const mix({3, 2}, 7);
  std::map<std::size_t, std::set<std::int64_t>> numbers;
  for (std::int64_t sample = 0; sample < 500; ++sample) {
    auto const [text, number] = mix.draw(sample);
    EXPECT_TRUE(numbers[text].insert(number).second);
  }
  EXPECT_EQ(numbers[0].size(), 300u);
  EXPECT_EQ(*numbers[0].rbegin(), 299);
  EXPECT_EQ(*numbers[1].rbegin(), 199);
}

TEST(MixedOrder, has_epochs_of_each_part) {
  DataOrder const order({{3, 10}, {1, 4}}, 5, {100, 2});
  ASSERT_EQ(order.windows(), 14);
  std::map<std::int64_t, std::vector<std::int64_t>> epochs;  // of the first part
  std::int64_t of_second = 0;
  for (std::int64_t sample = 100; sample < 140; ++sample) {
    auto const [epoch, window] = order.sample(sample);
    if (window < 10)
      epochs[epoch].push_back(window);
    else
      ++of_second;
  }
  EXPECT_EQ(of_second, 10);
  ASSERT_EQ(epochs.size(), 3u);
  EXPECT_EQ(epochs.begin()->first, 2);
  for (auto& [epoch, windows] : epochs) {
    std::ranges::sort(windows);
    Shares all(10);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(windows, all) << epoch;
  }
}

}  // namespace
}  // namespace spillway::mixes_test
