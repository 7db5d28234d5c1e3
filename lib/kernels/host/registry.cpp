// The kernel of every op kind, made from the one table of kinds.
#include <array>

#include "kernels/kernel.hpp"

namespace spillway {

Kernel kernel(OpKind kind) {
  using Maker = Kernel (*)();
  static constexpr std::array makers = {
#define SPILLWAY_OP(name, rule) Maker{kernel_##name},
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
  };
  return makers[static_cast<std::size_t>(kind)]();
}

}  // namespace spillway
