#include "graph/build.hpp"

namespace spillway {

// y = act(gate) up
void backward_gated(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &gate = forward.inputs[0], &up = forward.inputs[1];
  auto const dy = context.incoming(forward.outputs[0]);
  auto const dgate = context.contribute_alone(gate), dup = context.contribute_alone(up);
  context.emit(OpKind::gated_backward, "dx", {gate, up, dy}, {dgate, dup}, forward.attributes);
}

}  // namespace spillway
