// The op `accumulate` computes sum += fresh in place. It adds a gradient, of a further micro-batch
// or of a further use of a parameter, to the sum of earlier ones.
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
