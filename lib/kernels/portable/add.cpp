// The op `add` computes c = a + b for each element.
#include "kernels/portable/elementwise.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::add";

struct Add {
  KOKKOS_FUNCTION float operator()(float a, float b) const { return a + b; }
};

}  // namespace

Kernel kernel_add() {
  return elementwise_kernel<OpKind::add, Add, Add, label>();
}

}  // namespace spillway::SPILLWAY_SPACE
