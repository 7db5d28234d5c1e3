#include "graph/build.hpp"

namespace spillway {

// The backward op computes the losses too, so that logits are computed once, some rows at a time.
void backward_lm_head_loss(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const o = operands<OpKind::lm_head_loss>(forward);
  auto const dx = context.contribute_alone(o.x);
  bool const wants_dw = context.wants(o.w);
  auto const [dw, sum] =
      wants_dw ? context.parameter_gradient_in_place(o.w) : BackwardContext::InPlace{};
  auto const dbias = context.wants(o.bias) ? context.parameter_gradient(o.bias) : View{};
  context.emit<OpKind::lm_head_loss_backward>("dx",
                                              {.x = o.x,
                                               .w = o.w,
                                               .targets = o.targets,
                                               .weights = o.weights,
                                               .bias = o.bias,
                                               .losses = o.losses,
                                               .loss = o.loss,
                                               .dx = dx,
                                               .dw = dw,
                                               .dbias = dbias},
                                              forward.attributes,
                                              (wants_dw ? 3 : 2) * forward.flops, sum);
  context.elide_forward();
}

}  // namespace spillway
