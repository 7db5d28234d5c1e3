// accumulate: sum += fresh, in place: a gradient of another micro-batch joins those before it.
#include "kernels/portable/elementwise.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::accumulate";

struct Accumulate {
  KOKKOS_FUNCTION float operator()(float fresh, float sum) const { return sum + fresh; }
};

}  // namespace

Kernel kernel_accumulate() {
  return elementwise_kernel<OpKind::accumulate, Accumulate, Accumulate, label>();
}

}  // namespace spillway::SPILLWAY_SPACE
