#include "graph/build.hpp"

namespace spillway {

// The forward op computes distance_bias[h, e] = table[bucket(e), h].
void backward_relative_bias(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const o = operands<OpKind::relative_bias>(forward);
  auto const dbias = context.incoming(o.distance_bias);
  context.emit<OpKind::relative_bias_backward>(
      "dtable", {.ddistance_bias = dbias, .dtable = context.parameter_gradient(o.table)},
      forward.attributes);
}

}  // namespace spillway
