#include "graph/build.hpp"

namespace spillway {

// c = a + b
void backward_add(BackwardContext& context) {
  auto const o = operands<OpKind::add>(context.forward());
  auto const dc = context.incoming(o.c);
  context.pass_on(o.a, dc);
  context.pass_on(o.b, dc);
}

}  // namespace spillway
