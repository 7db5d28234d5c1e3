#include "kernels/host/kernels.hpp"

#include <array>

#include "kernels/portable/kernels.hpp"
#include "kernels/portable/tool_region.hpp"

namespace spillway::host {

Kernel kernel_attention();
Kernel kernel_attention_backward();
Kernel kernel_lm_head_loss();
Kernel kernel_lm_head_loss_backward();
Kernel kernel_matmul();
Kernel kernel_mlp();
Kernel kernel_mlp_backward();

namespace {

Kernel unseen_kernel(OpKind kind) {
  using Maker = Kernel (*)();
  static constexpr std::array makers = {
#define SPILLWAY_OP(name, rule, operands) Maker{kernel_##name},
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
  };
  return makers[static_cast<std::size_t>(kind)]();
}

// Only products may be the work of another library alone.
Launch bind(KernelContext const& context, Op const& op) {
  return in_region(op, op.kind == OpKind::matmul, unseen_kernel(op.kind).bind(context, op));
}

}  // namespace

Kernel kernel(OpKind kind) {
  auto kernel = unseen_kernel(kind);
  kernel.bind = bind;
  return kernel;
}

}  // namespace spillway::host
