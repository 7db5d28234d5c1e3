// Elementary functions as straight-line fp32 code: no branch, no call, no table, so that loops over
// them vectorise, and the same bits on every processor with an fma.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/function.hpp"

namespace spillway {

// e^x with at most 2 ulp of error; +inf above 88.73, gradual underflow to 0 below -103.97,
// exp(-inf) = 0, exp(NaN) = NaN. Cody-Waite reduction x = n ln2 + r, |r| <= ln2/2, and the degree-6
// minimax polynomial of Cephes' expf.
SPILLWAY_FUNCTION float fast_exp(float x) {
  constexpr float lowest = -104.0f, highest = 89.0f;
  constexpr float log2e = 1.44269504f;
  constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  constexpr float round = 12582912.0f;  // 1.5 * 2^23: adding it leaves an integer in the low bits

  x = x < lowest ? lowest : x;  // written so that a NaN passes
  x = x > highest ? highest : x;
  float const shifted = std::fma(x, log2e, round);
  float const n = shifted - round;
  float const r = std::fma(n, -ln2_low, std::fma(n, -ln2_high, x));

  float p = 1.9875691500e-4f;
  p = std::fma(p, r, 1.3981999507e-3f);
  p = std::fma(p, r, 8.3334519073e-3f);
  p = std::fma(p, r, 4.1665795894e-2f);
  p = std::fma(p, r, 1.6666665459e-1f);
  p = std::fma(p, r, 5.0000001201e-1f);
  p = std::fma(p * r, r, r) + 1.0f;

  // 2^n in two factors: n reaches beyond what one exponent field holds.
  auto const exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(round);
  std::int32_t const half = exponent >> 1;
  auto const power = [](std::int32_t e) { return std::bit_cast<float>((e + 127) << 23); };
  return p * power(half) * power(exponent - half);
}

// 1 / (1 + e^-x).
SPILLWAY_FUNCTION float fast_sigmoid(float x) {
  return 1.0f / (1.0f + fast_exp(-x));
}

}  // namespace spillway
