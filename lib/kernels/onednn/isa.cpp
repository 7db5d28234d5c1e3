#include "kernels/onednn/isa.hpp"

#include <fmt/core.h>

#include <dnnl.hpp>

namespace spillway {

std::string onednn_isa() {
  auto const* version = dnnl::version();
  return fmt::format("oneDNN {}.{}.{}, isa {:#x}", version->major, version->minor, version->patch,
                     static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
}

}  // namespace spillway
