// The two bit-level contracts below the kernels: split masters and counter-based draws.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/bf16.hpp"
#include "base/philox.hpp"

namespace spillway {
namespace {

float rejoined(float master) {
  auto const split = split_master(master);
  return join_master(split.parameter, split.remainder);
}

TEST(Masters, ParameterAndRemainderHoldEveryBitOfTheMaster) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i) {
    auto const bits = static_cast<std::uint32_t>(random());
    ASSERT_EQ(std::bit_cast<std::uint32_t>(rejoined(std::bit_cast<float>(bits))), bits);
  }
}

TEST(Masters, TiesAndTheEndsOfTheRangeComeBackExactly) {
  for (std::uint32_t const upper : {0u, 0x3f80u, 0x7f7fu, 0x7f80u, 0x8000u, 0xbf81u, 0xffffu})
    for (std::uint32_t const lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      auto const bits = upper << 16 | lower;
      EXPECT_EQ(std::bit_cast<std::uint32_t>(rejoined(std::bit_cast<float>(bits))), bits)
          << std::hex << bits;
    }
}

TEST(Masters, TheParameterIsTheNearestBf16) {
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
TEST(Philox, FollowsThePublishedKnownAnswers) {
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

TEST(Philox, UniformNumbersLieInTheHalfOpenInterval) {
  EXPECT_EQ(uniform01(0), 0);
  EXPECT_LT(uniform01(~0u), 1);
}

}  // namespace
}  // namespace spillway
