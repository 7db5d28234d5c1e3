// AdamW whose running averages are stored in 8 bits (Dettmers et al., arXiv:2110.02861), as
// bitsandbytes does: each block of kQuantizedBlock elements has a scale, its largest magnitude, and
// each element the code of its share of it (lib/kernels/formulas/dynamic_code.hpp). Blocks begin
// with each parameter, and small parameters are quantized like all others.
#include "graph/optimizers/update_rule.hpp"

namespace spillway {
namespace {

std::optional<DType> code_dtype(Arithmetic const&, OptimConfig const&) {
  return DType::u8;
}

constexpr StateRow kAdamW8bitStates[] = {{"remainder", Role::remainder, remainder_dtype},
                                         {"m", Role::moment, code_dtype},
                                         {"m_scale", Role::moment, fp32_dtype, kQuantizedBlock},
                                         {"v", Role::moment, code_dtype},
                                         {"v_scale", Role::moment, fp32_dtype, kQuantizedBlock}};

Op adamw_8bit_op(Graph const& graph, Chunk const& chunk) {
  auto operands = update_operands<OpKind::adamw_8bit>(graph, chunk);
  operands.m = state_view(graph, chunk, "m");
  operands.m_scale = state_view(graph, chunk, "m_scale");
  operands.v = state_view(graph, chunk, "v");
  operands.v_scale = state_view(graph, chunk, "v_scale");
  Op op;
  set_operands(op, operands);
  auto const& optim = graph.optim;
  op.attributes =
      AdamWAttributes{optim.beta1, optim.beta2, optim.eps, optim.weight_decay, 1, {}, 0};
  return op;
}

}  // namespace

UpdateRule const adamw_8bit_rule = {kAdamW8bitStates, adamw_8bit_op, write_adamw_control};

}  // namespace spillway
