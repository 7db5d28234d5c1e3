#include "graph/build.hpp"

namespace spillway {

// Scaling is linear in x, so the backward op is the same op on dy.
void backward_scale(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const o = operands<OpKind::scale>(forward);
  auto const dy = context.incoming(o.y);
  context.emit<OpKind::scale>("dx", {.x = dy, .y = context.contribute_alone(o.x)},
                              forward.attributes);
}

}  // namespace spillway
