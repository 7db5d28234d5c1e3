// gelu_backward: df = gelu'(f) dg, element by element.
#include <cmath>

#include "kernels/elementwise.hpp"
#include "kernels/gelu.hpp"

namespace spillway {
namespace {

Label const label = "spillway::gelu_backward";

struct GeluBackward {
  KOKKOS_FUNCTION float operator()(float f, float dg) const { return gelu_slope(f) * dg; }
};

// By the textbook's formula and the library's tanh.
struct Textbook {
  KOKKOS_FUNCTION float operator()(float f, float dg) const {
    double const x = f, k = std::sqrt(2 / M_PI);
    double const t = std::tanh(k * (x + 0.044715 * x * x * x));
    double const slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
    return static_cast<float>(slope * dg);
  }
};

}  // namespace

Kernel kernel_gelu_backward() {
  return elementwise_kernel<GeluBackward, Textbook, label>();
}

}  // namespace spillway
