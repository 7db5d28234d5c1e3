#include "kernels/host/workspaces.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/math.hpp"
#include "graph/attention.hpp"
#include "graph/operands.hpp"
#include "graph/target.hpp"
#include "kernels/cuda/attention_workspace.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/host/kernels.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kAlignment = 256;  // the alignment of workspaces that cuBLAS wants
constexpr std::int64_t kRowElements = 64;

std::int64_t product_bytes(int architecture) {
  return std::int64_t{architecture >= 90 ? 32 : 4} << 20;
}

std::int64_t aligned(std::int64_t bytes) {
  return round_up(bytes, kAlignment);
}

std::int64_t rows_at_once(Op const& op, View const& x) {
  return std::min(attributes_of<LmHeadAttributes>(op).chunk, x.shape[0]);
}

// Returns the bytes of the logits, or of the derivatives with respect to them, of the rows that the
// loss takes at a time. Their elements have the type `type`.
std::int64_t logits_bytes(Op const& op, View const& x, View const& w, DType type) {
  return aligned(rows_at_once(op, x) * round_up(w.shape[0], kRowElements) * size_bytes(type));
}

// The workspace of the op `lm_head_loss` holds logits, then the workspace of a product.
std::int64_t head_bytes(int architecture, Op const& op) {
  auto const o = operands<OpKind::lm_head_loss>(op);
  return logits_bytes(op, o.x, o.w, DType::f32) + product_bytes(architecture);
}

// The workspace of the op `lm_head_loss_backward` holds logits, their derivatives (unless these
// replace the logits), the fp32 sum for dw (if dw is rounded), sums for dbias and the workspace of
// a product.
std::int64_t head_backward_bytes(int architecture, KernelContext const& context, Op const& op) {
  auto const o = operands<OpKind::lm_head_loss_backward>(op);
  auto bytes = logits_bytes(op, o.x, o.w, DType::f32);
  if (dtype(context, o.x) == DType::bf16) bytes += logits_bytes(op, o.x, o.w, DType::bf16);
  if (dtype(context, o.dw) == DType::bf16)
    bytes += aligned(element_count(o.w.shape) * size_bytes(DType::f32));
  if (is_present(o.dbias)) {
    auto const portions = div_ceil(o.x.shape[0], rows_at_once(op, o.x));
    bytes += aligned(portions * o.w.shape[0] * size_bytes(DType::f32));
  }
  return bytes + product_bytes(architecture);
}

std::int64_t attention_backward_bytes(KernelContext const& context, Op const& op) {
  auto const o = operands<OpKind::attention_backward>(op);
  cuda::AttentionBackwardWorkspace const workspace(
      attributes_of<AttentionAttributes>(op), dtype(context, o.q), is_present(o.ddistance_bias));
  return workspace.total_bytes;
}

}  // namespace

std::int64_t cuda_workspace_bytes(int architecture, KernelContext const& context, Op const& op) {
  switch (op.kind) {
    case OpKind::matmul:
      return product_bytes(architecture);
    case OpKind::lm_head_loss:
      return head_bytes(architecture, op);
    case OpKind::lm_head_loss_backward:
      return head_backward_bytes(architecture, context, op);
    case OpKind::attention_backward:
      return attention_backward_bytes(context, op);
    case OpKind::embed_backward:
    case OpKind::layernorm_backward:
    case OpKind::rmsnorm_backward:
    case OpKind::column_sum:
    case OpKind::square_norm:
      return host::kernel(op.kind).workspace_bytes(context, op);
    case OpKind::embed:
    case OpKind::layernorm:
    case OpKind::rmsnorm:
    case OpKind::attention:
    case OpKind::relative_bias:
    case OpKind::rope:
    case OpKind::activation:
    case OpKind::gated:
    case OpKind::dropout:
    case OpKind::select_row:
    case OpKind::store_rows:
    case OpKind::scale:
    case OpKind::add:
    case OpKind::relative_bias_backward:
    case OpKind::activation_backward:
    case OpKind::gated_backward:
    case OpKind::accumulate:
    case OpKind::tree_sum:
    case OpKind::adamw:
      break;  // ops of these kinds need no workspace
  }
  return 0;
}

std::int64_t workspace_bytes(std::string_view target, KernelContext const& context, Op const& op) {
  check(is_target(target), target, "no kernels are made for it");
  if (auto const architecture = cuda_architecture(target))
    return cuda_workspace_bytes(*architecture, context, op);
  auto const bytes = host::kernel(op.kind).workspace_bytes;
  return bytes ? bytes(context, op) : 0;
}

std::int64_t workspace_bytes(KernelContext const& context, Op const& op) {
  auto const& isa = context.arithmetic.isa;
  return workspace_bytes(cuda_architecture(isa) ? isa : kHostTarget, context, op);
}

}  // namespace spillway
