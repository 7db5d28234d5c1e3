#include "graph/build.hpp"

namespace spillway {

// Dropout is linear in x, so the backward op is the same op on dy, with the same random numbers.
void backward_dropout(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const o = operands<OpKind::dropout>(forward);
  auto const dy = context.incoming(o.y);
  context.emit<OpKind::dropout>("dx",
                                {.x = dy, .samples = o.samples, .y = context.contribute_alone(o.x)},
                                forward.attributes);
}

}  // namespace spillway
