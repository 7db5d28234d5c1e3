// GELU in its tanh form (Hendrycks and Gimpel, arXiv:1606.08415), as GPT-2 has it:
//   gelu(x) = x/2 (1 + tanh u) = x s(2u),   u = sqrt(2/pi) (x + 0.044715 x^3),   s the sigmoid,
// whose sigmoid form keeps relative accuracy for negative x, where 1 + tanh u cancels.
#pragma once

#include <cmath>

#include "kernels/fast_math.hpp"

namespace spillway {

inline constexpr float kGeluCubic = 0.044715f;
inline constexpr float kGeluSlope = 1.5957691216f;  // 2 sqrt(2/pi): of 2u at 0

SPILLWAY_FUNCTION float gelu_gate(float x) {
  return fast_sigmoid(kGeluSlope * x * std::fma(kGeluCubic * x, x, 1.0f));
}

SPILLWAY_FUNCTION float gelu(float x) {
  return x * gelu_gate(x);
}

// d gelu / d x = s + x s (1 - s) d(2u)/dx.
SPILLWAY_FUNCTION float gelu_slope(float x) {
  float const s = gelu_gate(x);
  float const slope = kGeluSlope * std::fma(3 * kGeluCubic * x, x, 1.0f);
  return std::fma(x * slope, s * (1 - s), s);
}

}  // namespace spillway
