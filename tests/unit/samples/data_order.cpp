#include "samples/data_order.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <vector>

namespace spillway::data_order_test {
namespace {

TEST(DataOrder, each_epoch_covers_each_window_once_and_in_another_order) {
  DataOrder const order(100, 5);
  ASSERT_EQ(order.windows(), 100);
  std::vector<std::vector<std::int64_t>> epochs(3);
  for (std::int64_t i = 0; i < 300; ++i) {
    auto const sample = order.sample(i);
    EXPECT_EQ(sample.epoch, i / 100);
    epochs[static_cast<std::size_t>(sample.epoch)].push_back(sample.window);
  }
  for (auto const& epoch : epochs) {
    EXPECT_EQ(std::set(epoch.begin(), epoch.end()).size(), 100u);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
}

TEST(DataOrder, a_sample_depends_on_its_number_alone) {
  DataOrder const forward(14'285, 3), backward(14'285, 3), other_seed(14'285, 4);
  std::vector<std::int64_t> a, b, c;
  for (std::int64_t i = 0; i < 200; ++i) a.push_back(forward.sample(i * 1000).window);
  for (std::int64_t i = 199; i >= 0; --i) b.insert(b.begin(), backward.sample(i * 1000).window);
  for (std::int64_t i = 0; i < 200; ++i) c.push_back(other_seed.sample(i * 1000).window);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(DataOrder, one_window_repeats) {
  DataOrder const order(1, 1);
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(order.sample(i).epoch, i);
    EXPECT_EQ(order.sample(i).window, 0);
  }
}

TEST(DataOrder, has_a_window) {
  EXPECT_THROW(DataOrder(0, 1), std::logic_error);
}

}  // namespace
}  // namespace spillway::data_order_test
