// AdamW whose running averages are stored in 8 bits (Dettmers et al., arXiv:2110.02861), as
// bitsandbytes does: each block of kQuantizedBlock elements has a scale, its largest magnitude, and
// each element the code of its share of it (lib/kernels/formulas/dynamic_code.hpp). Blocks begin
// with each parameter, and small parameters are quantized like all others.
#include "graph/operands.hpp"
#include "graph/optimizers/update_rule.hpp"

namespace spillway {
namespace {

std::optional<DType> code_dtype(Arithmetic const&, OptimConfig const&) {
  return DType::u8;
}
std::optional<DType> scale_dtype(Arithmetic const&, OptimConfig const&) {
  return DType::f32;
}

constexpr StateRow kAdamW8bitStates[] = {{"remainder", Role::remainder, remainder_dtype},
                                         {"m", Role::moment, code_dtype},
                                         {"m_scale", Role::moment, scale_dtype, kQuantizedBlock},
                                         {"v", Role::moment, code_dtype},
                                         {"v_scale", Role::moment, scale_dtype, kQuantizedBlock}};

Op adamw_8bit_op(Graph const& graph, Chunk const& chunk) {
  Op op;
  set_operands(op,
               Operands<OpKind::adamw_8bit>{.gradient = whole(graph.tensors[chunk.gradient]),
                                            .control = whole(graph.tensors[graph.known.control]),
                                            .parameter = whole(graph.tensors[chunk.parameter]),
                                            .remainder = state_view(graph, chunk, "remainder"),
                                            .m = state_view(graph, chunk, "m"),
                                            .m_scale = state_view(graph, chunk, "m_scale"),
                                            .v = state_view(graph, chunk, "v"),
                                            .v_scale = state_view(graph, chunk, "v_scale")});
  auto const& optim = graph.optim;
  op.attributes = AdamWAttributes{optim.beta1, optim.beta2, optim.eps, optim.weight_decay, {}, 0};
  return op;
}

}  // namespace

UpdateRule const adamw_8bit_rule = {kAdamW8bitStates, adamw_8bit_op, write_adamw_control};

}  // namespace spillway
