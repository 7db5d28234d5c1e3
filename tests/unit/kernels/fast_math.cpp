// fast_exp, fast_cos_sin against the library's fp64 functions over all magnitudes.
#include "kernels/formulas/fast_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace spillway::fast_math_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(FastExp, errs_by_less_than_two_ulp_where_results_are_normal) {
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

TEST(FastExp, underflows_gradually_and_overflows_to_infinity) {
  for (float x = -110; x < -87; x += 0.01f)
    EXPECT_NEAR(fast_exp(x), std::exp(static_cast<double>(x)), 3e-45) << x;
  EXPECT_GT(fast_exp(-103.0f), 0);
  EXPECT_EQ(fast_exp(88.8f), kInfinity);
}

TEST(FastExp, keeps_special_values) {
  EXPECT_EQ(fast_exp(0), 1);
  EXPECT_EQ(fast_exp(-kInfinity), 0);
  EXPECT_EQ(fast_exp(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(fast_exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST(FastCosSin, errs_by_no_more_than_it_says) {
  double worst = 0;
  auto const compare = [&](float x) {
    float cosine, sine;
    fast_cos_sin(x, &cosine, &sine);
    worst = std::max({worst, std::abs(cosine - std::cos(static_cast<double>(x))),
                      std::abs(sine - std::sin(static_cast<double>(x)))});
  };
  for (float x = -2097151; x < 2097152; x += 6.13f) compare(x);
  for (float x = -100; x < 100; x += 1e-3f) compare(x);
  EXPECT_LT(worst, 1.2e-7);
}

TEST(FastCosSin, is_exact_at_zero_and_turns_its_sign_with_x) {
  float cosine, sine, back, negative;
  fast_cos_sin(0, &cosine, &sine);
  EXPECT_EQ(cosine, 1);
  EXPECT_EQ(sine, 0);
  for (float const x : {0.5f, 1.0f, 2.0f, 4.0f, 5.0f, 1e5f}) {
    fast_cos_sin(x, &cosine, &sine);
    fast_cos_sin(-x, &back, &negative);
    EXPECT_EQ(back, cosine);
    EXPECT_EQ(negative, -sine);
  }
}

}  // namespace
}  // namespace spillway::fast_math_test
