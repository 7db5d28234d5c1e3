#include "graph/build.hpp"

namespace spillway {

// The forward op computes y = act(gate) up.
void backward_gated(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const o = operands<OpKind::gated>(forward);
  auto const dy = context.incoming(o.y);
  context.emit<OpKind::gated_backward>("dx",
                                       {.gate = o.gate,
                                        .up = o.up,
                                        .dy = dy,
                                        .dgate = context.contribute_alone(o.gate),
                                        .dup = context.contribute_alone(o.up)},
                                       forward.attributes);
}

}  // namespace spillway
