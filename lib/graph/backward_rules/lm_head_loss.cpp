#include "graph/build.hpp"

namespace spillway {

// The logits of a chunk of rows exist once, in backward, where the losses are computed as well.
void backward_lm_head_loss(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &x = forward.inputs[0], &w = forward.inputs[1], &bias = forward.inputs[4];
  auto const &losses = forward.outputs[0], &loss = forward.outputs[1];
  auto const dx = context.contribute_alone(x);
  auto const [dw, accumulate] = context.parameter_gradient_in_place(w);
  auto const dbias = is_present(bias) ? context.parameter_gradient(bias) : View{};

  auto in_place = forward.in_place;
  if (accumulate) in_place.push_back(3);
  context.emit(OpKind::lm_head_loss_backward, "dx", forward.inputs, {losses, loss, dx, dw, dbias},
               forward.attributes, 3 * forward.flops, std::move(in_place));
  context.elide_forward();
}

}  // namespace spillway
