#include "kernels/host/tiles/tiles.hpp"

#include <array>

#include "base/check.hpp"
#include "kernels/host/tiles/kinds.hpp"

namespace spillway {
namespace {

struct Offers {
  std::array<TileKernels const*, 3> kernels = {};
  std::size_t count = 0;

  explicit Offers(DType dtype) {
    for (auto const* kind : {tiles::amx(dtype), tiles::avx512(dtype), &tiles::portable(dtype)}) {
      if (kind) kernels[count++] = kind;
    }
  }
};

}  // namespace

std::span<TileKernels const* const> all_tile_kernels(DType dtype) {
  check(dtype == DType::bf16 || dtype == DType::f32, name(dtype), "no tiles are made of it");
  static Offers const bf16(DType::bf16), f32(DType::f32);
  auto const& offers = dtype == DType::bf16 ? bf16 : f32;
  return {offers.kernels.data(), offers.count};
}

TileKernels const& tile_kernels(DType dtype, bool portable) {
  return portable ? tiles::portable(dtype) : *all_tile_kernels(dtype).front();
}

}  // namespace spillway
