#include "graph/build.hpp"

namespace spillway {

// distance_bias[h, e] = table[bucket(e), h]
void backward_relative_bias(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const dbias = context.incoming(forward.outputs[0]);
  auto const dtable = context.parameter_gradient(forward.inputs[0]);
  context.emit(OpKind::relative_bias_backward, "dtable", {dbias}, {dtable}, forward.attributes);
}

}  // namespace spillway
