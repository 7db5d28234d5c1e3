#include "kernels/portable/kernels.hpp"

#include <stdexcept>

#include "kernels/portable/space.hpp"

namespace spillway::SPILLWAY_SPACE {

std::optional<Kernel> portable_kernel(OpKind kind) {
  switch (kind) {
#define SPILLWAY_PORTABLE(kind) \
  case OpKind::kind:            \
    return kernel_##kind();
#include "kernels/portable/kinds.def"
#undef SPILLWAY_PORTABLE
    default:
      return {};
  }
}

std::unique_ptr<Exec const> make_exec(void* stream) {
  if (stream != nullptr) throw std::logic_error("this execution space has no streams");
  return std::make_unique<SpaceExec>(Space{});
}

}  // namespace spillway::SPILLWAY_SPACE
