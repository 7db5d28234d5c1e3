#include "graph/build.hpp"

namespace spillway {

// Every pair of columns turns, so its gradient turns back. Nothing of the forward pass is read.
void backward_rope(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &x = forward.inputs[0], &positions = forward.inputs[1];
  auto const dy = context.incoming(forward.outputs[0]);
  auto attributes = attributes_of<RopeAttributes>(forward);
  attributes.inverse = !attributes.inverse;
  context.emit(OpKind::rope, "dx", {dy, positions}, {context.contribute_alone(x)}, attributes);
}

}  // namespace spillway
