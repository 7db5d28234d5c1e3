#include "graph/build.hpp"

namespace spillway {

// x = wte[token] + wpe[position] + wtt[type], with or without the last two
void backward_embed(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &tokens = forward.inputs[0], &wte = forward.inputs[1], &wpe = forward.inputs[2];
  auto const &positions = forward.inputs[3], &types = forward.inputs[4], &wtt = forward.inputs[5];
  auto const dx = context.incoming(forward.outputs[0]);
  auto const [dwte, adds] = context.parameter_gradient_in_place(wte);
  auto const dwpe = is_present(wpe) ? context.parameter_gradient(wpe) : View{};
  auto const dwtt = is_present(wtt) ? context.parameter_gradient(wtt) : View{};
  context.emit(OpKind::embed_backward, "dx", {tokens, dx, positions, types}, {dwte, dwpe, dwtt},
               forward.attributes, 0, adds ? std::vector{0} : std::vector<int>{});
}

}  // namespace spillway
