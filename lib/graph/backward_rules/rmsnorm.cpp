#include "graph/build.hpp"

namespace spillway {

// y = x rstd gamma
void backward_rmsnorm(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &x = forward.inputs[0], &gamma = forward.inputs[1], &rstd = forward.outputs[1];
  auto const dy = context.incoming(forward.outputs[0]);
  auto const [dx, addend] = context.contribute(x);
  auto const dgamma = context.parameter_gradient(gamma);
  context.emit(OpKind::rmsnorm_backward, "dx", {dy, x, gamma, rstd, addend.value_or(View{})},
               {dx, dgamma});
}

}  // namespace spillway
