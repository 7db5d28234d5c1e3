#include "train/data_order.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/error.hpp"

namespace spillway {
namespace {

TEST(DataOrder, each_epoch_covers_each_window_once_and_in_another_order) {
  DataOrder const order(1001, 10, 5);
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

TEST(DataOrder, windows_share_one_token_and_stay_inside) {
  for (std::int64_t tokens = 9; tokens < 40; ++tokens) {
    DataOrder const order(tokens, 8, 1);
    auto const last = order.first_token(order.windows() - 1);
    EXPECT_EQ(last, 8 * (order.windows() - 1));
    EXPECT_LE(last + 9, tokens);      // the last window has all its tokens
    EXPECT_GT(last + 8 + 9, tokens);  // and another would not
  }
}

TEST(DataOrder, a_sample_depends_on_its_number_alone) {
  DataOrder const forward(100'000, 7, 3), backward(100'000, 7, 3), other_seed(100'000, 7, 4);
  std::vector<std::int64_t> a, b, c;
  for (std::int64_t i = 0; i < 200; ++i) a.push_back(forward.sample(i * 1000).window);
  for (std::int64_t i = 199; i >= 0; --i) b.insert(b.begin(), backward.sample(i * 1000).window);
  for (std::int64_t i = 0; i < 200; ++i) c.push_back(other_seed.sample(i * 1000).window);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(DataOrder, one_window_repeats) {
  DataOrder const order(5, 4, 1);
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(order.sample(i).epoch, i);
    EXPECT_EQ(order.sample(i).window, 0);
  }
}

TEST(DataOrder, too_few_tokens_are_bad_input) {
  for (std::int64_t tokens : {0, 1, 4}) {
    try {
      DataOrder const order(tokens, 4, 1);
      FAIL() << tokens;
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::bad_input);
    }
  }
}

}  // namespace
}  // namespace spillway
