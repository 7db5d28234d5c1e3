// Computes activations in fp64 by their textbook formulas and the functions of the standard
// library, as serial references need them.
#pragma once

#include <cmath>

#include "graph/attributes.hpp"

namespace spillway {

inline double reference_value(Activation form, double x) {
  switch (form) {
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::gelu_erf:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::silu:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

// Returns the derivative of the activation function at x. For relu at 0 it is 0.
inline double reference_slope(Activation form, double x) {
  double const k = std::sqrt(2 / M_PI);
  switch (form) {
    case Activation::gelu_tanh: {
      double const t = std::tanh(k * (x + 0.044715 * x * x * x));
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
    }
    case Activation::gelu_erf:
      return 0.5 * std::erfc(-x / std::sqrt(2.0)) + 0.5 * k * x * std::exp(-0.5 * x * x);
    case Activation::relu:
      return x > 0 ? 1 : 0;
    case Activation::silu: {
      double const s = 1 / (1 + std::exp(-x));
      return s + x * s * (1 - s);
    }
  }
  return 0;
}

}  // namespace spillway
