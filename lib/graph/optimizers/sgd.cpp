// SGD, with momentum or without, as torch.optim.SGD has it. With momentum it keeps a decaying sum
// of gradients, m. The formula is in lib/kernels/formulas/sgd.hpp.
#include "graph/operands.hpp"
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
  Op op;
  set_operands(op, Operands<OpKind::sgd>{.gradient = whole(graph.tensors[chunk.gradient]),
                                         .control = whole(graph.tensors[graph.known.control]),
                                         .parameter = whole(graph.tensors[chunk.parameter]),
                                         .remainder = state_view(graph, chunk, "remainder"),
                                         .m = state_view(graph, chunk, "m")});
  op.attributes = SgdAttributes{graph.optim.momentum, graph.optim.weight_decay, {}, graph.seed};
  return op;
}

void write_sgd_control(OptimConfig const&, double, ControlWords&) {}  // it has none of its own

}  // namespace

UpdateRule const sgd_rule = {kSgdStates, sgd_op, write_sgd_control};

}  // namespace spillway
