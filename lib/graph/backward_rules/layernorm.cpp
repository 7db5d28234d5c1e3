#include "graph/build.hpp"

namespace spillway {

// y = (x - mean) rstd gamma + beta
void backward_layernorm(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &x = forward.inputs[0], &gamma = forward.inputs[1], &beta = forward.inputs[2];
  auto const &mean = forward.outputs[1], &rstd = forward.outputs[2];
  auto const dy = context.incoming(forward.outputs[0]);
  auto const [dx, addend] = context.contribute(x);
  auto const dgamma = context.parameter_gradient(gamma);
  auto const dbeta = is_present(beta) ? context.parameter_gradient(beta) : View{};
  context.emit(OpKind::layernorm_backward, "dx",
               {dy, x, gamma, mean, rstd, addend.value_or(View{})}, {dx, dgamma, dbeta});
}

}  // namespace spillway
