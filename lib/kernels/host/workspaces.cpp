#include "kernels/host/workspaces.hpp"

#include "base/check.hpp"
#include "graph/attention.hpp"
#include "graph/operands.hpp"
#include "graph/target.hpp"
#include "kernels/cuda_attention_workspace.hpp"
#include "kernels/cuda_loss_workspace.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/mlp_launch.hpp"

namespace spillway {
namespace {

// The workspace of a product comes last in that of the loss.
std::int64_t loss_bytes(int architecture, KernelContext const& context, Op const& op) {
  return cuda_loss_workspace(context, op).scratch + cuda_product_bytes(architecture);
}

std::int64_t attention_backward_bytes(KernelContext const& context, Op const& op) {
  auto const o = operands<OpKind::attention_backward>(op);
  AttentionBackwardWorkspace const workspace(attributes_of<AttentionAttributes>(op),
                                             dtype(context, o.q), is_present(o.ddistance_bias));
  return workspace.total_bytes;
}

}  // namespace

std::int64_t cuda_workspace_bytes(int architecture, KernelContext const& context, Op const& op) {
  switch (op.kind) {
    case OpKind::matmul:
      return cuda_product_bytes(architecture);
    case OpKind::lm_head_loss:
    case OpKind::lm_head_loss_backward:
      return loss_bytes(architecture, context, op);
    case OpKind::attention_backward:
      return attention_backward_bytes(context, op);
    case OpKind::mlp:
    case OpKind::mlp_backward:
      return mlp_workspace_bytes(context, op, [=](KernelContext const& inner, Op const& part) {
        return cuda_workspace_bytes(architecture, inner, part);
      });
    case OpKind::embed_backward:
    case OpKind::layernorm_backward:
    case OpKind::rmsnorm_backward:
    case OpKind::column_sum:
    case OpKind::square_norm:
    case OpKind::adafactor:
    case OpKind::muon:
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
    case OpKind::dequantize:
    case OpKind::add:
    case OpKind::relative_bias_backward:
    case OpKind::activation_backward:
    case OpKind::gated_backward:
    case OpKind::accumulate:
    case OpKind::tree_sum:
    case OpKind::adamw:
    case OpKind::adamw_8bit:
    case OpKind::lion:
    case OpKind::sgd:
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
