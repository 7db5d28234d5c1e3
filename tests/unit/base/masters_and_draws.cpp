// The two bit-level contracts below the kernels: split masters and counter-based draws.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <random>

#include "base/bf16.hpp"
#include "base/normal.hpp"
#include "base/philox.hpp"

namespace spillway::masters_and_draws_test {
namespace {

float rejoined(float master) {
  auto const split = split_master(master);
  return join_master(split.parameter, split.remainder);
}

TEST(Masters, parameter_and_remainder_hold_every_bit_of_the_master) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i) {
    auto const bits = static_cast<std::uint32_t>(random());
    ASSERT_EQ(std::bit_cast<std::uint32_t>(rejoined(std::bit_cast<float>(bits))), bits);
  }
}

TEST(Masters, ties_and_the_ends_of_the_range_come_back_exactly) {
  for (std::uint32_t const upper : {0u, 0x3f80u, 0x7f7fu, 0x7f80u, 0x8000u, 0xbf81u, 0xffffu})
    for (std::uint32_t const lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      auto const bits = upper << 16 | lower;
      EXPECT_EQ(std::bit_cast<std::uint32_t>(rejoined(std::bit_cast<float>(bits))), bits)
          << std::hex << bits;
    }
}

// So a reader that keeps only the parameter need not read the remainder.
TEST(Masters, the_parameter_is_what_the_master_rounds_to_whatever_its_remainder_is) {
  for (std::uint32_t upper = 0; upper <= 0xffff; ++upper)
    for (int const remainder : {-0x8000, -0x7fff, -1, 0, 1, 0x7fff}) {
      bf16 const parameter{static_cast<std::uint16_t>(upper)};
      auto const master = join_master(parameter, static_cast<std::int16_t>(remainder));
      ASSERT_EQ(split_master(master).parameter.bits, upper) << remainder;
    }
}

TEST(Masters, the_parameter_is_the_nearest_bf16) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal(0, 1);
  for (int i = 0; i < 100000; ++i) {
    float const master = normal(random);
    float const parameter = to_float(split_master(master).parameter);
    ASSERT_LE(std::abs(parameter - master), std::abs(to_float(to_bf16(master)) - master));
  }
  EXPECT_EQ(to_float(split_master(1.00390625f).parameter), 1.0078125f) << "ties away from zero";
}

// The known-answer vectors of the Random123 distribution (philox4x32, 10 rounds).
TEST(Philox, follows_the_published_known_answers) {
  struct Answer {
    std::uint64_t key, high, low;
    std::uint32_t x[4];
  };
  Answer const answers[] = {{0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                            {~0ull, ~0ull, ~0ull, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                            {0x299f31d0a4093822ull,
                             0x0370734413198a2eull,
                             0x85a308d3243f6a88ull,
                             {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (auto const& answer : answers) {
    auto const block = philox(answer.key, answer.high, answer.low);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(block.x[i], answer.x[i]);
  }
}

TEST(Normal, logarithm_and_directions_are_those_of_the_library) {
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 10007) {
    auto const turn = static_cast<std::uint32_t>(bits);
    double const angle = 2 * std::numbers::pi * static_cast<double>(turn) / 0x1p32;
    auto const unit = direction(turn);
    ASSERT_NEAR(unit.cos, std::cos(angle), 2e-7) << turn;
    ASSERT_NEAR(unit.sin, std::sin(angle), 2e-7) << turn;
    float const u = std::fma(static_cast<float>(turn), 0x1p-32f, 0x1p-33f);
    double const exact = std::log(static_cast<double>(u));
    ASSERT_NEAR(fast_log(u), exact, 2e-7 * std::abs(exact)) << u;
  }
}

TEST(Normal, pairs_are_finite_at_the_ends_and_of_variance_one) {
  EXPECT_EQ(normal_pair(~0u, 0).cos, 0);
  EXPECT_LT(normal_pair(0, 0).cos, 6.77f);
  double sum = 0, squares = 0, products = 0;
  constexpr int n = 1 << 20;
  for (std::uint64_t i = 0; i < n; ++i) {
    auto const block = philox(1, 2, i);
    auto const pair = normal_pair(block.x[0], block.x[1]);
    sum += pair.cos + pair.sin;
    squares += pair.cos * pair.cos + pair.sin * pair.sin;
    products += pair.cos * pair.sin;
  }
  EXPECT_NEAR(sum / n, 0, 6e-3);  // four standard deviations
  EXPECT_NEAR(squares / n, 2, 8e-3);
  EXPECT_NEAR(products / n, 0, 4e-3);
}

TEST(Philox, uniform_numbers_lie_in_the_half_open_interval) {
  EXPECT_EQ(uniform01(0), 0);
  EXPECT_LT(uniform01(~0u), 1);
}

}  // namespace
}  // namespace spillway::masters_and_draws_test
