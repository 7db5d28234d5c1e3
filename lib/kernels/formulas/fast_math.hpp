// Computes elementary functions by straight-line fp32 code, without branches, calls or tables.
// Loops over these functions vectorise, and the functions give the same bits on every processor
// with a fused multiply-add.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/function.hpp"

namespace spillway {

// Adding 1.5 * 2^23 to x leaves the nearest integer in the low bits of the sum if |x| < 2^22.
inline constexpr float kRoundToInteger = 12582912.0f;

// Holds e^x as p 2^n for |x| < 128 ln2. The Cody-Waite reduction is x = n ln2 + r with |r| <=
// ln2/2, and p is the degree-6 minimax polynomial of Cephes' expf at r.
struct ExpParts {
  float p;
  // Only the lowest 9 bits of this member are n; the other bits come from kRoundToInteger.
  std::int32_t n;
};
SPILLWAY_FUNCTION ExpParts exp_parts(float x) {
  constexpr float log2e = 1.44269504f;
  constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;

  float const shifted = std::fma(x, log2e, kRoundToInteger);
  float const n = shifted - kRoundToInteger;
  float const r = std::fma(n, -ln2_low, std::fma(n, -ln2_high, x));

  float p = 1.9875691500e-4f;
  p = std::fma(p, r, 1.3981999507e-3f);
  p = std::fma(p, r, 8.3334519073e-3f);
  p = std::fma(p, r, 4.1665795894e-2f);
  p = std::fma(p, r, 1.6666665459e-1f);
  p = std::fma(p, r, 5.0000001201e-1f);
  p = std::fma(p * r, r, r) + 1.0f;
  return {p, std::bit_cast<std::int32_t>(shifted)};
}

// Returns x limited to [lowest, highest], with lowest < 0 < highest. It compares bits as integers,
// because a minimum of integers is one instruction, where GCC makes five for one of floats. A NaN
// becomes one of the limits.
SPILLWAY_FUNCTION float clamp_bits(float x, float lowest, float highest) {
  auto const positive = std::bit_cast<std::int32_t>(x), high = std::bit_cast<std::int32_t>(highest);
  auto const below = static_cast<std::uint32_t>(positive < high ? positive : high);
  // As an unsigned number, the bits of a negative float exceed those of all positive ones.
  auto const low = std::bit_cast<std::uint32_t>(lowest);
  return std::bit_cast<float>(below < low ? below : low);
}

// Returns e^x with an error of at most 2 ulp. The result is +inf for x above 88.73 and 0 for x
// below -103.97; close above that limit it is denormal. exp(-inf) = 0 and exp(NaN) = NaN.
SPILLWAY_FUNCTION float fast_exp(float x) {
  auto const parts = exp_parts(clamp_bits(x, -104.0f, 89.0f));
  // 2^n is the product of two powers, because n may exceed what a float's exponent field holds.
  auto const exponent = parts.n - std::bit_cast<std::int32_t>(kRoundToInteger);
  std::int32_t const half = exponent >> 1;
  auto const power = [](std::int32_t e) { return std::bit_cast<float>((e + 127) << 23); };
  float const result = parts.p * power(half) * power(exponent - half);
  return x == x ? result : x;
}

// Returns 2^x with an error of at most 2 ulp for x in [-126, 128). The result is too small below
// -126, 0 below -127, an arbitrary number from 128 on, and NaN for NaN. Softmax needs no more, and
// this function costs half as much as fast_exp. It uses a minimax polynomial on [-1/2, 1/2].
SPILLWAY_FUNCTION float weight_exp2(float x) {
  x = x < -127.0f ? -127.0f : x;  // the comparison leaves a NaN as it is
  float const shifted = x + kRoundToInteger;
  float const r = x - (shifted - kRoundToInteger);
  float p = 1.326466445e-3f;
  p = std::fma(p, r, 9.671498090e-3f);
  p = std::fma(p, r, 5.550733581e-2f);
  p = std::fma(p, r, 2.402224243e-1f);
  p = std::fma(p, r, 6.931470037e-1f);
  p = std::fma(p, r, 1.0f);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) +
                              (std::bit_cast<std::uint32_t>(shifted) << 23));
}

// Computes cos(x) and sin(x) for |x| < 2^21, each with an error of at most 1.2e-7. The nearest
// multiple of pi/2 is subtracted from x, and Cephes' polynomials are applied to the rest. For each
// pi/2 that was subtracted, sine and cosine change places and one of them changes its sign.
SPILLWAY_FUNCTION void fast_cos_sin(float x, float* cosine, float* sine) {
  constexpr float two_over_pi = 0.636619772f;
  constexpr float half_pi_high = 1.57079637f, half_pi_low = -4.37113883e-8f;
  float const shifted = std::fma(x, two_over_pi, kRoundToInteger);
  float const n = shifted - kRoundToInteger;
  float const r = std::fma(n, -half_pi_low, std::fma(n, -half_pi_high, x)), z = r * r;

  float s = std::fma(std::fma(-1.9515295891e-4f, z, 8.3321608736e-3f), z, -1.6666654611e-1f);
  s = std::fma(s * z, r, r);
  float c = std::fma(std::fma(2.443315711809948e-5f, z, -1.388731625493765e-3f), z,
                     4.166664568298827e-2f);
  c = std::fma(c * z, z, std::fma(-0.5f, z, 1.0f));

  auto const quarter = std::bit_cast<std::uint32_t>(shifted);
  auto const signed_by = [](float value, std::uint32_t bit) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ ((bit << 30) & 0x80000000u));
  };
  bool const odd = (quarter & 1) != 0;
  *cosine = signed_by(odd ? s : c, quarter + 1);
  *sine = signed_by(odd ? c : s, quarter);
}

// Returns 1 / (1 + e^-x). For a NaN the result is arbitrary; callers multiply it by x, which is
// NaN.
SPILLWAY_FUNCTION float fast_sigmoid(float x) {
  // With these limits n + 127 fits a float's exponent field, where 0 makes 2^n zero and 255 makes
  // it infinite.
  auto const parts = exp_parts(clamp_bits(-x, -88.0f, 89.0f));
  auto const power = static_cast<std::uint32_t>(parts.n + 127) << 23;
  return 1.0f / (1.0f + parts.p * std::bit_cast<float>(power));
}

}  // namespace spillway
