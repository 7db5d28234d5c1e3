#include "kernels/cuda_loss_workspace.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "graph/operands.hpp"
#include "kernels/dispatch.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kRowElements = 64;

std::int64_t aligned(std::int64_t bytes) {
  return round_up(bytes, kWorkspaceAlignment);
}

std::int64_t rows_at_once(Op const& op, View const& x) {
  return std::min(attributes_of<LmHeadAttributes>(op).chunk, x.shape[0]);
}

// Places the parts that both ops have: logits, or their derivatives, and then what products need.
CudaLossWorkspace forward(Op const& op, View const& x, View const& w) {
  CudaLossWorkspace at{.row_stride = round_up(w.shape[0], kRowElements)};
  at.scratch = aligned(rows_at_once(op, x) * at.row_stride * size_bytes(DType::f32));
  at.sum = at.bias_sums = at.scratch;
  return at;
}

CudaLossWorkspace backward(KernelContext const& context, Op const& op) {
  auto const o = operands<OpKind::lm_head_loss_backward>(op);
  auto at = forward(op, o.x, o.w);
  auto const rows = rows_at_once(op, o.x);
  if (dtype(context, o.x) == DType::bf16) {
    at.slopes = at.sum;
    at.sum += aligned(rows * at.row_stride * size_bytes(DType::bf16));
  }
  at.bias_sums = at.sum;
  if (is_present(o.dw) && dtype(context, o.dw) == DType::bf16)
    at.bias_sums += aligned(element_count(o.w.shape) * size_bytes(DType::f32));
  at.scratch = at.bias_sums;
  if (is_present(o.dbias))
    at.scratch += aligned(div_ceil(o.x.shape[0], rows) * o.w.shape[0] * size_bytes(DType::f32));
  return at;
}

}  // namespace

CudaLossWorkspace cuda_loss_workspace(KernelContext const& context, Op const& op) {
  if (op.kind == OpKind::lm_head_loss_backward) return backward(context, op);
  auto const o = operands<OpKind::lm_head_loss>(op);
  return forward(op, o.x, o.w);
}

}  // namespace spillway
