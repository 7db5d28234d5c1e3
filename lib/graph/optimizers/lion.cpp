// Lion (Chen et al., arXiv:2302.06675) keeps a running average of the gradient, m, and steps by the
// sign of an average that weighs the newest gradient more. The formula is in
// lib/kernels/formulas/lion.hpp.
#include "graph/optimizers/update_rule.hpp"

namespace spillway {
namespace {

constexpr StateRow kLionStates[] = {{"remainder", Role::remainder, remainder_dtype},
                                    {"m", Role::moment, moment_dtype}};

Op lion_op(Graph const& graph, Chunk const& chunk) {
  auto operands = update_operands<OpKind::lion>(graph, chunk);
  operands.m = state_view(graph, chunk, "m");
  Op op;
  set_operands(op, operands);
  auto const& optim = graph.optim;
  op.attributes = LionAttributes{optim.beta1, optim.beta2, optim.weight_decay, {}, graph.seed};
  return op;
}

}  // namespace

UpdateRule const lion_rule = {kLionStates, lion_op, write_no_control};

}  // namespace spillway
