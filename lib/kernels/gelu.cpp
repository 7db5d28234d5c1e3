// gelu: g = gelu(f), element by element.
#include "kernels/gelu.hpp"

#include <cmath>

#include "kernels/elementwise.hpp"

namespace spillway {
namespace {

Label const label = "spillway::gelu";

struct Gelu {
  KOKKOS_FUNCTION float operator()(float f) const { return gelu(f); }
};

// By the textbook's formula and the library's tanh.
struct Textbook {
  KOKKOS_FUNCTION float operator()(float f) const {
    double const x = f;
    double const u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return static_cast<float>(0.5 * x * (1 + std::tanh(u)));
  }
};

}  // namespace

Kernel kernel_gelu() {
  return elementwise_kernel<Gelu, Textbook, label>();
}

}  // namespace spillway
