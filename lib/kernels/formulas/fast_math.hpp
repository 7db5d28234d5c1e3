// Elementary functions as straight-line fp32 code: no branch, no call, no table, so that loops over
// them vectorise, and the same bits on every processor with an fma.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/function.hpp"

namespace spillway {

// 1.5 * 2^23: adding it leaves an integer in the low bits.
inline constexpr float kRoundToInteger = 12582912.0f;

// e^x as p 2^n, |x| < 128 ln2: Cody-Waite reduction x = n ln2 + r, |r| <= ln2/2, and the degree-6
// minimax polynomial of Cephes' expf.
struct ExpParts {
  float p;
  std::int32_t n;  // its lowest 9 bits; others belong to the number it was rounded with
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

// x in [lowest, highest], lowest < 0 < highest, as integers, whose minimum is one instruction where
// GCC makes five of a float's. A NaN becomes one of the limits.
SPILLWAY_FUNCTION float clamp_bits(float x, float lowest, float highest) {
  auto const positive = std::bit_cast<std::int32_t>(x), high = std::bit_cast<std::int32_t>(highest);
  auto const below = static_cast<std::uint32_t>(positive < high ? positive : high);
  auto const low = std::bit_cast<std::uint32_t>(lowest);  // beyond all positive numbers
  return std::bit_cast<float>(below < low ? below : low);
}

// e^x with at most 2 ulp of error; +inf above 88.73, gradual underflow to 0 below -103.97,
// exp(-inf) = 0, exp(NaN) = NaN.
SPILLWAY_FUNCTION float fast_exp(float x) {
  auto const parts = exp_parts(clamp_bits(x, -104.0f, 89.0f));
  // 2^n in two factors: n reaches beyond what one exponent field holds.
  auto const exponent = parts.n - std::bit_cast<std::int32_t>(kRoundToInteger);
  std::int32_t const half = exponent >> 1;
  auto const power = [](std::int32_t e) { return std::bit_cast<float>((e + 127) << 23); };
  float const result = parts.p * power(half) * power(exponent - half);
  return x == x ? result : x;
}

// 2^x for x < 128 (beyond, some number), with at most 2 ulp of error; 0 below -127, NaN for NaN.
// Softmax needs no more, and this is half of what fast_exp costs. A minimax polynomial on
// [-1/2, 1/2].
SPILLWAY_FUNCTION float weight_exp2(float x) {
  x = x < -127.0f ? -127.0f : x;  // written so that a NaN passes
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

// cos(x) and sin(x), |x| < 2^21, each with an error of at most 1.2e-7: x less the nearest multiple
// of pi/2, whose quarter turns are exchanges of signs and places, and Cephes' polynomials.
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

// 1 / (1 + e^-x), to be multiplied by x: of a NaN it gives some number.
SPILLWAY_FUNCTION float fast_sigmoid(float x) {
  // Between the limits 2^n fits one exponent field, whose ends mean 0 and infinity.
  auto const parts = exp_parts(clamp_bits(-x, -88.0f, 89.0f));
  auto const power = static_cast<std::uint32_t>(parts.n + 127) << 23;
  return 1.0f / (1.0f + parts.p * std::bit_cast<float>(power));
}

}  // namespace spillway
