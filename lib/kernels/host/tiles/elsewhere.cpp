// These functions say that there are no kernels. They are for compilers that cannot make the
// instructions of AMX or AVX-512.
#include "kernels/host/tiles/kinds.hpp"

namespace spillway::tiles {

#ifndef SPILLWAY_AMX
TileKernels const* amx(DType) {
  return nullptr;
}
#endif
#ifndef SPILLWAY_AVX512
TileKernels const* avx512(DType) {
  return nullptr;
}
#endif

}  // namespace spillway::tiles
