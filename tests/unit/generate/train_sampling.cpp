#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>

#include "generate/sampling.hpp"

namespace spillway::train_sampling_test {
namespace {

constexpr std::array<float, 4> kLogits = {0.5f, 2.0f, -1.0f, 1.0f};

TEST(Sampling, at_temperature_zero_takes_the_likeliest_token) {
  for (std::uint64_t draw = 0; draw < 100; ++draw) {
    EXPECT_EQ(sample_token(kLogits, {0, 7}, draw), 1);
  }
}

TEST(Sampling, draws_from_the_softmax_of_the_scaled_logits) {
  constexpr int draws = 40'000;
  for (double const temperature : {0.5, 1.0, 3.0}) {
    std::array<double, 4> expected{}, seen{};
    double total = 0;
    for (std::size_t i = 0; i < 4; ++i) total += expected[i] = std::exp(kLogits[i] / temperature);
    for (int draw = 0; draw < draws; ++draw) {
      ++seen[static_cast<std::size_t>(
          sample_token(kLogits, {temperature, 5}, static_cast<std::uint64_t>(draw)))];
    }
    for (std::size_t i = 0; i < 4; ++i) {
      auto const share = expected[i] / total;
      auto const deviation = std::sqrt(share * (1 - share) / draws);
      EXPECT_NEAR(seen[i] / draws, share, 5 * deviation) << i << " at " << temperature;
    }
  }
}

TEST(Sampling, depends_on_seed_and_draw_alone) {
  std::vector<std::int32_t> first, again, other;
  for (std::uint64_t draw = 0; draw < 64; ++draw) {
    first.push_back(sample_token(kLogits, {1, 5}, draw));
    again.push_back(sample_token(kLogits, {1, 5}, draw));
    other.push_back(sample_token(kLogits, {1, 6}, draw));
  }
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
}

// A text of a seed is the same in every version.
TEST(Sampling, draws_of_a_seed_are_these) {
  auto const tokens = [](double temperature, std::uint64_t seed, std::uint64_t first_draw) {
    std::string text;
    for (std::uint64_t draw = first_draw; draw < first_draw + 24; ++draw)
      text += std::to_string(sample_token(kLogits, {temperature, seed}, draw));
    return text;
  };
  constexpr std::uint64_t one = 1;
  EXPECT_EQ(tokens(1, 7, 0), "310111310123101011111111");
  EXPECT_EQ(tokens(3, 7, 0), "310111310133100021110011");
  EXPECT_EQ(tokens(3, (one << 40) + 7, 0), "011111103103330111003133");
  EXPECT_EQ(tokens(3, 7, one << 33), "123131112100233121101021");
}

TEST(Sampling, stands_logits_of_any_size) {
  std::array<float, 3> const huge = {-3e38f, 3e38f, 0};
  EXPECT_EQ(sample_token(huge, {1, 1}, 0), 1);
  std::array<float, 1> const one = {-5};
  EXPECT_EQ(sample_token(one, {1, 1}, 0), 0);
}

// Of kLogits tokens 1, 3, 0 and 2 are likely in this order, by 0.62, 0.23, 0.14 and 0.03.
TEST(Sampling, draws_from_the_likeliest_alone_if_asked) {
  auto const drawn = [](std::int64_t top_k, double top_p) {
    std::set<std::int32_t> tokens;
    for (std::uint64_t draw = 0; draw < 2000; ++draw)
      tokens.insert(sample_token(kLogits, {1, 5, top_k, top_p}, draw));
    return tokens;
  };
  using Tokens = std::set<std::int32_t>;
  EXPECT_EQ(drawn(1, 1), (Tokens{1}));
  EXPECT_EQ(drawn(2, 1), (Tokens{1, 3}));
  EXPECT_EQ(drawn(3, 1), (Tokens{0, 1, 3}));
  EXPECT_EQ(drawn(9, 1), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(drawn(0, 0.01), (Tokens{1}));
  EXPECT_EQ(drawn(0, 0.6), (Tokens{1}));
  EXPECT_EQ(drawn(0, 0.7), (Tokens{1, 3}));
  EXPECT_EQ(drawn(0, 0.9), (Tokens{0, 1, 3}));
  EXPECT_EQ(drawn(2, 0.75), (Tokens{1, 3})) << "0.73 of what top_k leaves";
  EXPECT_EQ(drawn(2, 0.7), (Tokens{1}));
}

TEST(Sampling, of_equal_chances_leaves_out_the_higher_ids) {
  std::array<float, 4> const equal = {1, 1, 1, 1};
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    EXPECT_LT(sample_token(equal, {1, 5, 2, 1}, draw), 2);
    EXPECT_LT(sample_token(equal, {1, 5, 0, 0.74}, draw), 3);
  }
}

TEST(Sampling, likeliest_tokens_come_first_with_their_probabilities) {
  auto const two = likeliest(kLogits, 2);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].token, 1);
  EXPECT_EQ(two[1].token, 3);
  double total = 0;
  for (auto const logit : kLogits) total += std::exp(static_cast<double>(logit));
  EXPECT_NEAR(two[0].probability, std::exp(2.0) / total, 1e-12);
  EXPECT_NEAR(two[1].probability, std::exp(1.0) / total, 1e-12);

  std::array<float, 3> const equal = {1, 1, 1};
  auto const all = likeliest(equal, 9);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].token, 0);
  EXPECT_EQ(all[2].token, 2);
  EXPECT_NEAR(likeliest(equal, 1).at(0).probability, 1.0 / 3, 1e-12) << "of all, not of those here";
}

}  // namespace
}  // namespace spillway::train_sampling_test
