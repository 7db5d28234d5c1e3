// All 65,536 patterns of the two formats of 16 bits, and every number at which rounding turns.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/bf16.hpp"
#include "base/f16.hpp"

namespace spillway::half_precision_test {
namespace {

std::uint32_t bits_of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

// What the standard says of a pattern, in arithmetic of doubles.
double meaning_of(f16 x) {
  int const exponent = x.bits >> 10 & 31, fraction = x.bits & 0x3ff;
  double const sign = x.bits >> 15 != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// Nothing else is said of a NaN than that it stays one, with its sign and its payload, and quiet.
template <class T>
void expect_same_again(std::uint16_t bits, std::uint16_t quiet_bit, bool is_nan) {
  auto const again = store<T>(to_float(T{bits})).bits;
  ASSERT_EQ(again, is_nan ? bits | quiet_bit : bits) << std::hex << bits;
}

TEST(HalfPrecision, every_f16_is_the_float_that_the_standard_says) {
  for (int bits = 0; bits < 65536; ++bits) {
    f16 const x{static_cast<std::uint16_t>(bits)};
    auto const expected = meaning_of(x);
    auto const value = to_float(x);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << std::hex << bits;
    } else {
      ASSERT_EQ(value, expected) << std::hex << bits;
      ASSERT_EQ(std::signbit(value), bits >> 15 != 0) << std::hex << bits;
    }
  }
}

TEST(HalfPrecision, every_pattern_comes_back) {
  for (int bits = 0; bits < 65536; ++bits) {
    auto const pattern = static_cast<std::uint16_t>(bits);
    expect_same_again<f16>(pattern, 0x200, (bits & 0x7fff) > 0x7c00);
    expect_same_again<bf16>(pattern, 0x40, (bits & 0x7fff) > 0x7f80);
  }
}

// Between two neighbours the middle goes to the even one, and the floats beside it to the nearer.
template <class T>
void expect_nearest_even(std::uint16_t lower, double low, double high) {
  auto const upper = static_cast<std::uint16_t>(lower + 1);
  auto const middle = static_cast<float>((low + high) / 2);
  ASSERT_EQ(middle, (low + high) / 2) << "a float holds the middle";
  for (std::uint16_t const sign : {0x0000, 0x8000}) {
    auto const rounded = [&](float x) { return store<T>(sign != 0 ? -x : x).bits; };
    ASSERT_EQ(rounded(std::nextafter(middle, 0.0f)), lower | sign) << std::hex << lower;
    ASSERT_EQ(rounded(middle), (lower % 2 == 0 ? lower : upper) | sign) << std::hex << lower;
    ASSERT_EQ(rounded(std::nextafter(middle, INFINITY)), upper | sign) << std::hex << lower;
  }
}

TEST(HalfPrecision, f16_rounds_to_nearest_and_ties_to_even) {
  for (std::uint16_t bits = 0; bits < 0x7c00; ++bits) {
    auto const low = meaning_of(f16{bits});
    auto const high =
        bits == 0x7bff ? 65536 : meaning_of(f16{static_cast<std::uint16_t>(bits + 1)});
    expect_nearest_even<f16>(bits, low, high);
  }
}

TEST(HalfPrecision, bf16_rounds_to_nearest_and_ties_to_even) {
  for (std::uint16_t bits = 0; bits < 0x7f7f; ++bits) {
    double const low = to_float(bf16{bits});
    double const high = to_float(bf16{static_cast<std::uint16_t>(bits + 1)});
    expect_nearest_even<bf16>(bits, low, high);
  }
}

TEST(HalfPrecision, the_ends_of_the_floats_become_zero_and_infinity) {
  EXPECT_EQ(to_f16(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(to_f16(-INFINITY).bits, 0xfc00);
  EXPECT_EQ(to_f16(65520).bits, 0x7c00);
  EXPECT_EQ(to_f16(std::nextafter(65520.0f, 0.0f)).bits, 0x7bff);
  EXPECT_EQ(to_f16(-std::numeric_limits<float>::denorm_min()).bits, 0x8000);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::denorm_min()).bits, 0);
  EXPECT_EQ(to_f16(std::bit_cast<float>(0x7f800001u)).bits, 0x7e00) << "a NaN, not an infinity";
  EXPECT_EQ(bits_of(to_float(f16{0x7e01})), 0x7fc02000u);
}

// All draws there are: the mean is exact, wherever x lies between its neighbours.
TEST(HalfPrecision, rounding_by_draws_has_the_mean_of_what_was_rounded) {
  for (float const x : {1.0f, 1.001f, -1.001f, 1.00390625f, 3.99999f, 1e-3f, -7.7e12f,
                        0x1.fefep126f, 0x1p-126f, 1e-40f, -1e-40f, 0x1p-149f}) {
    double sum = 0;
    for (std::uint32_t draw = 0; draw < 65536; ++draw) sum += to_float(to_bf16_by_draw(x, draw));
    EXPECT_EQ(sum / 65536, double{x}) << x;
  }
}

TEST(HalfPrecision, rounding_by_draws_keeps_signs_zeros_infinities_and_nans) {
  auto const infinity = std::numeric_limits<float>::infinity();
  for (std::uint32_t const draw : {0u, 1u, 0x7fffu, 0x8000u, 0xffffu}) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      auto const x = to_float(bf16{static_cast<std::uint16_t>(bits)});
      auto const expected = to_bf16(x).bits;  // x itself, but for NaNs, which get quiet
      ASSERT_EQ(to_bf16_by_draw(x, draw).bits, expected) << std::hex << bits;
    }
    // Between the largest bf16 and infinity, nearest is right.
    for (float const x : {0x1.fe0002p127f, 0x1.fefffep127f, 0x1.ffp127f, 0x1.fffffep127f})
      for (float const signed_x : {x, -x})
        EXPECT_EQ(to_bf16_by_draw(signed_x, draw).bits, to_bf16(signed_x).bits) << signed_x;
    EXPECT_TRUE(std::isfinite(to_float(to_bf16_by_draw(0x1.fdfffep127f, draw))));
    EXPECT_EQ(to_float(to_bf16_by_draw(infinity, draw)), infinity);
  }
}

}  // namespace
}  // namespace spillway::half_precision_test
