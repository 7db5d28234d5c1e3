#include "graph/build.hpp"

namespace spillway {

// c = a + b
void backward_add(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const dc = context.incoming(forward.outputs[0]);
  for (auto const& input : forward.inputs) context.pass_on(input, dc);
}

}  // namespace spillway
