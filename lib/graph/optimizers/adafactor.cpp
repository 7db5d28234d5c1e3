// Adafactor (Shazeer and Stern, arXiv:1804.04235) as torch.optim.Adafactor has it: of the
// gradient's square it keeps averages over each row and each column of a matrix instead of one for
// each element, and its steps are relative to a parameter's root mean square. The formula is in
// lib/kernels/formulas/adafactor.hpp.
#include <cmath>

#include "graph/optimizers/update_rule.hpp"

namespace spillway {
namespace {

// A matrix has an element for each row and then one for each column. A vector has all.
std::vector<std::int64_t> factors(Graph const&, Chunk const& chunk) {
  std::vector<std::int64_t> elements;
  for (Parameter const& parameter : chunk.parameters) {
    auto const& shape = parameter.view.shape;
    elements.push_back(shape.size() == 2 ? shape[0] + shape[1] : element_count(shape));
  }
  return elements;
}

constexpr StateRow kAdafactorStates[] = {{"remainder", Role::remainder, remainder_dtype},
                                         {"v", Role::moment, fp32_dtype, 1, factors}};

Op adafactor_op(Graph const& graph, Chunk const& chunk) {
  auto operands = update_operands<OpKind::adafactor>(graph, chunk);
  operands.v = state_view(graph, chunk, "v");
  Op op;
  set_operands(op, operands);
  op.whole_chunk = true;
  auto const& optim = graph.optim;
  op.attributes = AdafactorAttributes{optim.clip_threshold, optim.eps2, optim.weight_decay, {}};
  return op;
}

void write_adafactor_control(OptimConfig const& optim, double update, ControlWords& control) {
  control[control_new2] = std::pow(update, optim.beta2_decay);
}

}  // namespace

UpdateRule const adafactor_rule = {kAdafactorStates, adafactor_op, write_adafactor_control};

}  // namespace spillway
