#include "graph/build.hpp"

namespace spillway {

// The forward op computes x = wte[token] + wpe[position] + wtt[type], with or without the last two.
void backward_embed(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const o = operands<OpKind::embed>(forward);
  auto const dx = context.incoming(o.x);
  auto const [dwte, sum] = context.parameter_gradient_in_place(o.wte);
  auto const dwpe = is_present(o.wpe) ? context.parameter_gradient(o.wpe) : View{};
  auto const dwtt = is_present(o.wtt) ? context.parameter_gradient(o.wtt) : View{};
  context.emit<OpKind::embed_backward>("dx",
                                       {.tokens = o.tokens,
                                        .dx = dx,
                                        .positions = o.positions,
                                        .types = o.types,
                                        .dwte = dwte,
                                        .dwpe = dwpe,
                                        .dwtt = dwtt},
                                       forward.attributes, 0, sum);
}

}  // namespace spillway
