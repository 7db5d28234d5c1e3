#include "graph/build.hpp"

namespace spillway {

// The forward op computes y = act(x w_in + bias_in) w_out + bias_out + addend, some rows at a time.
// Nothing but x is kept: the backward op makes what lies between the products again. The work that
// this repeats is no part of the model's, and so not of the op's flops.
void backward_mlp(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const o = operands<OpKind::mlp>(forward);
  auto const dy = context.incoming(o.y);
  auto const w_in = context.weights(o.w_in), w_out = context.weights(o.w_out);
  auto const [dx, earlier] = context.contribute(o.x);
  // If x is what the forward op adds, too, dy is the first contribution to its gradient.
  bool const adds_dy = o.addend == o.x && !earlier;
  auto const of = [&](View const& parameter) {
    return context.wants(parameter) ? context.parameter_gradient(parameter) : View{};
  };
  auto const dw_in = of(o.w_in), dbias_in = of(o.bias_in);
  auto const dw_out = of(o.w_out), dbias_out = of(o.bias_out);
  // Each of the two products has one for dx and one for its weights.
  double const products = 2 + (is_present(dw_in) ? 1 : 0) + (is_present(dw_out) ? 1 : 0);
  context.emit<OpKind::mlp_backward>("dx",
                                     {.dy = dy,
                                      .x = o.x,
                                      .w_in = w_in,
                                      .bias_in = o.bias_in,
                                      .w_out = w_out,
                                      .addend = earlier.value_or(adds_dy ? dy : View{}),
                                      .samples = o.samples,
                                      .dx = dx,
                                      .dw_in = dw_in,
                                      .dbias_in = dbias_in,
                                      .dw_out = dw_out,
                                      .dbias_out = dbias_out},
                                     forward.attributes, products / 2 * forward.flops);
  if (is_present(o.addend) && !adds_dy) context.pass_on(o.addend, dy);
}

}  // namespace spillway
