// Computes activation functions and their slopes (derivatives) for one element, on any device. The
// functions are RELU, SiLU (x times the sigmoid) and GELU (Hendrycks and Gimpel, arXiv:1606.08415),
// which is x times the normal distribution's CDF:
//   gelu(x) = x/2 (1 + erf(x / sqrt 2)) = x/2 erfc(-x / sqrt 2).
// GELU also has an approximation by tanh:
//   gelu(x) = x/2 (1 + tanh u) = x s(2u),   u = sqrt(2/pi) (x + 0.044715 x^3),   s the sigmoid.
// The code computes the last form of each formula, which keeps its relative accuracy for negative
// x, where the sum with 1 in the first form cancels.
#pragma once

#include <cmath>

#include "graph/op.hpp"
#include "kernels/formulas/fast_math.hpp"

namespace spillway {

struct TanhGelu {
  static constexpr Activation form = Activation::gelu_tanh;
  static constexpr float kCubic = 0.044715f;
  static constexpr float kSlope = 1.5957691216f;  // 2 sqrt(2/pi)

  SPILLWAY_FUNCTION static float gate(float x) {
    return fast_sigmoid(kSlope * x * std::fma(kCubic * x, x, 1.0f));
  }
  SPILLWAY_FUNCTION static float value(float x) { return x * gate(x); }

  // The derivative of x s(z) is s + x s (1 - s) dz/dx, with s = gate(x) the sigmoid of z.
  SPILLWAY_FUNCTION static float slope(float x) {
    float const s = gate(x);
    float const slope = kSlope * std::fma(3 * kCubic * x, x, 1.0f);
    return std::fma(x * slope, s * (1 - s), s);
  }
};

struct ErfGelu {
  static constexpr Activation form = Activation::gelu_erf;

  // Holds e^(-x^2/2) and the normal distribution's tail beyond |x|, both with relative errors of
  // about 2e-7 unless they underflow. The rounding error of x^2 is compensated. The tail is t p(t)
  // e^(-x^2/2) with t = 1 / (1 + 0.2734375 |x|), where p is a polynomial that interpolates at
  // Chebyshev's nodes (relative error 5e-8 for |x| < 20).
  struct Normal {
    float exponential, tail;
  };
  SPILLWAY_FUNCTION static Normal normal(float x) {
    float const size = std::fabs(x), z = size < 20.0f ? size : 20.0f;
    float const square = z * z, rest = std::fma(z, z, -square);
    float const exponential = (1.0f - 0.5f * rest) * fast_exp(-0.5f * square);
    float const t = 1.0f / std::fma(0.2734375f, z, 1.0f);
    float p = 0.02817551255f;
    p = std::fma(p, t, -0.1175400452f);
    p = std::fma(p, t, 0.1459016746f);
    p = std::fma(p, t, -0.0490826852f);
    p = std::fma(p, t, 0.09619140139f);
    p = std::fma(p, t, 0.07605284108f);
    p = std::fma(p, t, 0.1022365479f);
    p = std::fma(p, t, 0.1089750053f);
    p = std::fma(p, t, 0.109089767f);
    return {exponential, t * p * exponential};
  }

  SPILLWAY_FUNCTION static float value(float x) {
    float const tail = normal(x).tail;
    return x * (x > 0 ? 1.0f - tail : tail);
  }

  // For the normal distribution, the derivative of x CDF(x) is CDF(x) + x density(x).
  SPILLWAY_FUNCTION static float slope(float x) {
    constexpr float inverse_root_2pi = 0.398942280f;
    auto const n = normal(x);
    return std::fma(x, inverse_root_2pi * n.exponential, x > 0 ? 1.0f - n.tail : n.tail);
  }
};

struct Silu {
  static constexpr Activation form = Activation::silu;

  SPILLWAY_FUNCTION static float value(float x) { return x * fast_sigmoid(x); }
  SPILLWAY_FUNCTION static float slope(float x) {
    float const s = fast_sigmoid(x);
    return std::fma(x, s * (1 - s), s);
  }
};

struct Relu {
  static constexpr Activation form = Activation::relu;

  SPILLWAY_FUNCTION static float value(float x) { return x < 0 ? 0.0f : x; }
  SPILLWAY_FUNCTION static float slope(float x) { return x > 0 ? 1.0f : 0.0f; }
};

// Calls f with an object of the struct that computes `form`, and returns what f returns.
template <class F>
auto with_formula(Activation form, F const& f) {
  switch (form) {
    case Activation::gelu_erf:
      return f(ErfGelu{});
    case Activation::relu:
      return f(Relu{});
    case Activation::silu:
      return f(Silu{});
    case Activation::gelu_tanh:
      break;
  }
  return f(TanhGelu{});
}
template <class F>
auto with_formula(Op const& op, F const& f) {
  return with_formula(attributes_of<ActivationAttributes>(op).form, f);
}

}  // namespace spillway
