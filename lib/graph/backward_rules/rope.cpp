#include "graph/build.hpp"

namespace spillway {

// The forward op turns pairs of columns, so the gradient is turned back. No activation of the
// forward pass is read.
void backward_rope(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const o = operands<OpKind::rope>(forward);
  auto const dy = context.incoming(o.y);
  auto attributes = attributes_of<RopeAttributes>(forward);
  attributes.inverse = !attributes.inverse;
  context.emit<OpKind::rope>(
      "dx", {.x = dy, .positions = o.positions, .y = context.contribute_alone(o.x)}, attributes);
}

}  // namespace spillway
