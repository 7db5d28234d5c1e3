// The op `accumulate` computes sum += fresh in place. It adds a new gradient, of another
// micro-batch or of another use of a parameter, to the sum of those before it.
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
