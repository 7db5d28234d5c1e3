#include "graph/build.hpp"

namespace spillway {

// x = wte[token] + wpe[position]
void backward_embed(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const dx = context.incoming(forward.outputs[0]);
  auto const [dwte, adds] = context.parameter_gradient_in_place(forward.inputs[1]);
  auto const dwpe = context.parameter_gradient(forward.inputs[2]);
  context.emit(OpKind::embed_backward, "dx", {forward.inputs[0], dx}, {dwte, dwpe},
               forward.attributes, 0, adds ? std::vector{0} : std::vector<int>{});
}

}  // namespace spillway
