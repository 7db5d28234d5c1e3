#include "kernels/host/kernels.hpp"

#include <array>

#include "kernels/portable/kernels.hpp"

namespace spillway::host {

Kernel kernel_attention();
Kernel kernel_attention_backward();
Kernel kernel_lm_head_loss();
Kernel kernel_lm_head_loss_backward();
Kernel kernel_matmul();
Kernel kernel_mlp();
Kernel kernel_mlp_backward();

Kernel kernel(OpKind kind) {
  using Maker = Kernel (*)();
  static constexpr std::array makers = {
#define SPILLWAY_OP(name, rule, operands) Maker{kernel_##name},
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
  };
  return makers[static_cast<std::size_t>(kind)]();
}

}  // namespace spillway::host
