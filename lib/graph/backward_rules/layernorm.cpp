#include "graph/build.hpp"

namespace spillway {

// The forward op computes y = (x - mean) rstd gamma + beta.
void backward_layernorm(BackwardContext& context) {
  auto const o = operands<OpKind::layernorm>(context.forward());
  auto const dy = context.incoming(o.y);
  auto const [dx, addend] = context.contribute(o.x);
  auto const dgamma = context.parameter_gradient(o.gamma);
  auto const dbeta = is_present(o.beta) ? context.parameter_gradient(o.beta) : View{};
  context.emit<OpKind::layernorm_backward>("dx", {.dy = dy,
                                                  .x = o.x,
                                                  .gamma = o.gamma,
                                                  .mean = o.mean,
                                                  .rstd = o.rstd,
                                                  .addend = addend.value_or(View{}),
                                                  .dx = dx,
                                                  .dgamma = dgamma,
                                                  .dbeta = dbeta});
}

}  // namespace spillway
