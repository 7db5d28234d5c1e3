#include <algorithm>

#include "graph/build.hpp"
#include "graph/gradient_map.hpp"
#include "graph/refuse.hpp"

namespace spillway {

#define SPILLWAY_OP(name, rule, operands) void backward_##rule(BackwardContext&);
#include "graph/op_kinds.def"
#undef SPILLWAY_OP

// The word `none` in op_kinds.def names this function. It is never called.
void backward_none(BackwardContext&) {}

BackwardRule backward_rule(OpKind kind) {
  static constexpr BackwardRule rules[] = {
#define SPILLWAY_OP(name, rule, operands) &backward_##rule,
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
  };
  auto const rule = rules[static_cast<std::size_t>(kind)];
  return rule == &backward_none ? nullptr : rule;
}

namespace {

// Refuses a trainable parameter that the loss does not depend on: nothing would write the gradient
// that its update reads.
void refuse_idle_parameters(Graph const& graph, GradientMap const& gradients) {
  for (Chunk const& chunk : graph.chunks) {
    if (!chunk.trainable) continue;
    for (Parameter const& parameter : chunk.parameters) {
      if (!gradients.is_used(parameter.view.tensor, bounding_range(parameter.view)))
        refuse_graph("", parameter.name, "is trainable, and the loss does not depend on it");
    }
  }
}

}  // namespace

void append_backward(Graph& graph) {
  GradientMap gradients(graph);
  auto const matters = [&](View const& output) {
    if (!is_present(output)) return false;
    bool const has_gradient =
        output.tensor == graph.known.loss || gradients.tensor_of(output.tensor).has_value();
    return has_gradient && gradients.wants(output.tensor);
  };
  for (auto id = graph.ops.size(); id-- > 0;) {
    Op const& forward = graph.ops[id];
    auto const output = std::ranges::find_if(forward.outputs, matters);
    if (output == forward.outputs.end()) continue;
    auto const rule = backward_rule(forward.kind);
    if (rule == nullptr) {
      refuse_graph(forward.name, graph.tensor(*output).name,
                   "needs a gradient, and ops of this kind have no backward rule");
    }
    BackwardContext context(graph, gradients, forward);
    rule(context);
    context.finish();
  }
  refuse_idle_parameters(graph, gradients);
}

}  // namespace spillway
