#include <cassert>

#include "graph/build.hpp"

namespace spillway {

// y = (x - mean) rstd gamma + beta
void backward_layernorm(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &x = forward.inputs[0], &gamma = forward.inputs[1];
  auto const &mean = forward.outputs[1], &rstd = forward.outputs[2];
  bool const bias = forward.attributes.flag("bias");

  auto const [dx, addend] = context.contribute(x);
  std::vector<View> inputs{context.incoming(forward.outputs[0]), x, gamma, mean, rstd};
  if (addend) inputs.push_back(*addend);

  std::vector<View> outputs{dx, context.parameter_gradient(gamma).gradient};
  if (bias) outputs.push_back(context.parameter_gradient(forward.inputs[2]).gradient);
  context.emit(OpKind::layernorm_backward, "dx", std::move(inputs), std::move(outputs),
               {{"bias", bias ? 1.0 : 0.0}, {"addend", addend ? 1.0 : 0.0}});
}

}  // namespace spillway
