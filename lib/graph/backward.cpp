#include <algorithm>
#include <cassert>

#include "graph/build.hpp"
#include "graph/gradient_map.hpp"

namespace spillway {

#define SPILLWAY_OP(name, rule) void backward_##rule(BackwardContext&);
#include "graph/op_kinds.def"
#undef SPILLWAY_OP

// What the table's `none` names; never called.
void backward_none(BackwardContext&) {}

BackwardRule backward_rule(OpKind kind) {
  static constexpr BackwardRule rules[] = {
#define SPILLWAY_OP(name, rule) &backward_##rule,
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
  };
  auto const rule = rules[static_cast<std::size_t>(kind)];
  return rule == &backward_none ? nullptr : rule;
}

void append_backward(Graph& graph) {
  GradientMap gradients;
  auto const matters = [&](View const& output) {
    return output.tensor == graph.known.loss || gradients.tensor_of(output.tensor).has_value();
  };
  for (auto id = graph.ops.size(); id-- > 0;) {
    Op const& forward = graph.ops[id];
    if (std::ranges::none_of(forward.outputs, matters)) continue;
    auto const rule = backward_rule(forward.kind);
    assert(rule != nullptr);
    BackwardContext context(graph, gradients, forward);
    rule(context);
    context.add_deferred();
  }
}

}  // namespace spillway
