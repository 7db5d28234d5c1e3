#include "graph/build.hpp"

namespace spillway {

// g = act(f)
void backward_activation(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const& f = forward.inputs[0];
  auto const dg = context.incoming(forward.outputs[0]);
  context.emit(OpKind::activation_backward, "df", {f, dg}, {context.contribute_alone(f)},
               forward.attributes);
}

}  // namespace spillway
