#include "graph/build.hpp"

namespace spillway {

// The forward op computes c = a + b.
void backward_add(BackwardContext& context) {
  auto const o = operands<OpKind::add>(context.forward());
  auto const dc = context.incoming(o.c);
  context.pass_on(o.a, dc);
  context.pass_on(o.b, dc);
}

}  // namespace spillway
