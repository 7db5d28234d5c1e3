// SGD, with momentum or without, as torch.optim.SGD has it. With momentum it keeps a decaying sum
// of gradients, m. The formula is in lib/kernels/formulas/sgd.hpp.
#include "graph/optimizers/update_rule.hpp"

namespace spillway {
namespace {

std::optional<DType> momentum_dtype(Arithmetic const& arithmetic, OptimConfig const& optim) {
  if (optim.momentum == 0) return std::nullopt;
  return moment_dtype(arithmetic, optim);
}

constexpr StateRow kSgdStates[] = {{"remainder", Role::remainder, remainder_dtype},
                                   {"m", Role::moment, momentum_dtype}};

Op sgd_op(Graph const& graph, Chunk const& chunk) {
  auto operands = update_operands<OpKind::sgd>(graph, chunk);
  operands.m = state_view(graph, chunk, "m");
  Op op;
  set_operands(op, operands);
  op.attributes = SgdAttributes{graph.optim.momentum, graph.optim.weight_decay, {}, graph.seed};
  return op;
}

}  // namespace

UpdateRule const sgd_rule = {kSgdStates, sgd_op, write_no_control};

}  // namespace spillway
