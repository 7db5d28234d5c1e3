// If the compiler cannot make instructions of AMX or AVX-512, these functions take the place of
// those in amx.cpp or avx512.cpp and say that there are no kernels.
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
