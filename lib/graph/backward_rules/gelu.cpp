#include "graph/build.hpp"

namespace spillway {

// g = gelu(f)
void backward_gelu(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const& f = forward.inputs[0];
  auto const dg = context.incoming(forward.outputs[0]);
  context.emit(OpKind::gelu_backward, "df", {f, dg}, {context.contribute_alone(f)},
               forward.attributes);
}

}  // namespace spillway
