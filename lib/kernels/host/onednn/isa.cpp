#include "kernels/host/onednn/isa.hpp"

#include <fmt/core.h>

#include <array>
#include <dnnl.hpp>

#include "base/error.hpp"
#include "kernels/host/onednn/matmul.hpp"

namespace spillway::host {

std::string onednn_isa() {
  auto const* version = dnnl::version();
  return fmt::format("oneDNN {}.{}.{}, isa {:#x}", version->major, version->minor, version->patch,
                     static_cast<unsigned>(dnnl::get_effective_cpu_isa()));
}

namespace {

bool makes_one(DType dtype) {
  auto const square = dense_matrix(dtype, 32, 32);
  try {
    OneDnnMatmul const product({.a = square, .b = square, .c = square}, 1);
    return true;
  } catch (Error const&) {
    return false;
  }
}

}  // namespace

bool onednn_multiplies(DType dtype) {
  static std::array const known{makes_one(DType::f32), makes_one(DType::bf16)};
  return known[dtype == DType::f32 ? 0 : 1];
}

}  // namespace spillway::host
