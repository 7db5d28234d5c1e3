// AdamW (Loshchilov and Hutter, arXiv:1711.05101) keeps running averages of the gradient, m, and of
// its square, v. The formula is in lib/kernels/formulas/adamw.hpp.
#include <cmath>

#include "graph/optimizers/update_rule.hpp"

namespace spillway {
namespace {

constexpr StateRow kAdamWStates[] = {{"remainder", Role::remainder, remainder_dtype},
                                     {"m", Role::moment, moment_dtype},
                                     {"v", Role::moment, moment_dtype}};

Op whole_lr_op(Graph const& graph, Chunk const& chunk) {
  return adamw_op(graph, chunk, 1);
}

}  // namespace

Op adamw_op(Graph const& graph, Chunk const& chunk, double lr_share) {
  auto operands = update_operands<OpKind::adamw>(graph, chunk);
  operands.m = state_view(graph, chunk, "m");
  operands.v = state_view(graph, chunk, "v");
  Op op;
  set_operands(op, operands);
  auto const& optim = graph.optim;
  op.attributes = AdamWAttributes{optim.beta1, optim.beta2, optim.eps, optim.weight_decay,
                                  lr_share,    {},          graph.seed};
  return op;
}

// The op divides m and v by these two words, because both begin at zero. It also reads the words
// that the commit writes for every optimizer; `control_update` numbers the random draws that round
// moments in bf16.
void write_adamw_control(OptimConfig const& optim, double update, ControlWords& control) {
  control[control_bias1] = 1 - std::pow(optim.beta1, update);
  control[control_bias2] = 1 - std::pow(optim.beta2, update);
}

UpdateRule const adamw_rule = {kAdamWStates, whole_lr_op, write_adamw_control};

}  // namespace spillway
