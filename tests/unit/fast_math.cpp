// fast_exp against the library's fp64 exponential over all magnitudes.
#include "kernels/fast_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace spillway {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(FastExp, ErrsByLessThanTwoUlpWhereResultsAreNormal) {
  double worst_ulp = 0;
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 997) {  // also tiny and negative x
    auto const x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!(x > -87.3f && x < 88.7f)) continue;
    double const exact = std::exp(static_cast<double>(x));
    auto const nearest = static_cast<float>(exact);
    double const ulp = std::nextafter(nearest, kInfinity) - nearest;
    worst_ulp = std::max(worst_ulp, std::abs(fast_exp(x) - exact) / ulp);
  }
  EXPECT_LT(worst_ulp, 2);
}

TEST(FastExp, UnderflowsGraduallyAndOverflowsToInfinity) {
  for (float x = -110; x < -87; x += 0.01f)
    EXPECT_NEAR(fast_exp(x), std::exp(static_cast<double>(x)), 3e-45) << x;
  EXPECT_GT(fast_exp(-103.0f), 0);
  EXPECT_EQ(fast_exp(88.8f), kInfinity);
}

TEST(FastExp, KeepsSpecialValues) {
  EXPECT_EQ(fast_exp(0), 1);
  EXPECT_EQ(fast_exp(-kInfinity), 0);
  EXPECT_EQ(fast_exp(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(fast_exp(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace spillway
