#include "graph/build.hpp"

namespace spillway {

// The forward op computes y = x rstd gamma.
void backward_rmsnorm(BackwardContext& context) {
  auto const o = operands<OpKind::rmsnorm>(context.forward());
  auto const dy = context.incoming(o.y);
  auto const [dx, addend] = context.contribute(o.x);
  auto const dgamma = context.parameter_gradient(o.gamma);
  context.emit<OpKind::rmsnorm_backward>("dx", {.dy = dy,
                                                .x = o.x,
                                                .gamma = o.gamma,
                                                .rstd = o.rstd,
                                                .addend = addend.value_or(View{}),
                                                .dx = dx,
                                                .dgamma = dgamma});
}

}  // namespace spillway
