#include "graph/build.hpp"

namespace spillway {

// The forward op computes g = act(f).
void backward_activation(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const o = operands<OpKind::activation>(forward);
  auto const dg = context.incoming(o.g);
  context.emit<OpKind::activation_backward>(
      "df", {.f = o.f, .dg = dg, .df = context.contribute_alone(o.f)}, forward.attributes);
}

}  // namespace spillway
