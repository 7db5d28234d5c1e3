#include "graph/build.hpp"

namespace spillway {

// Linear in x: the same op, drawing the same numbers, on dy.
void backward_dropout(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &x = forward.inputs[0], &samples = forward.inputs[1];
  auto const dy = context.incoming(forward.outputs[0]);
  context.emit(OpKind::dropout, "dx", {dy, samples}, {context.contribute_alone(x)},
               forward.attributes);
}

}  // namespace spillway
