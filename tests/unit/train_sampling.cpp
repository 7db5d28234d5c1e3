#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "train/generate.hpp"

namespace spillway {
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

TEST(Sampling, stands_logits_of_any_size) {
  std::array<float, 3> const huge = {-3e38f, 3e38f, 0};
  EXPECT_EQ(sample_token(huge, {1, 1}, 0), 1);
  std::array<float, 1> const one = {-5};
  EXPECT_EQ(sample_token(one, {1, 1}, 0), 0);
}

class Window : public testing::TestWithParam<std::int64_t> {};

TEST_P(Window, holds_the_last_tokens_and_points_at_the_very_last) {
  auto const count = GetParam();
  constexpr std::int64_t sequence = 4;
  GenerateBatch batch(sequence);
  for (std::int32_t i = 0; i < count; ++i) batch.tokens.push_back(10 + i);
  std::array<std::int32_t, sequence> tokens = {-1, -1, -1, -1};
  std::array<std::int32_t, 1> position = {-1};
  auto const bytes = [](auto& values) { return std::as_writable_bytes(std::span(values)); };
  batch.load(0, 0,
             BatchBuffers({{BatchField::tokens, 0, bytes(tokens)},
                           {BatchField::position, 0, bytes(position)}}));
  auto const inside = std::min(count, sequence);
  EXPECT_EQ(position[0], inside - 1);
  for (std::int64_t i = 0; i < sequence; ++i) {
    EXPECT_EQ(tokens[static_cast<std::size_t>(i)], i < inside ? 10 + count - inside + i : 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Window, testing::Values(1, 3, 4, 5, 9));

}  // namespace
}  // namespace spillway
