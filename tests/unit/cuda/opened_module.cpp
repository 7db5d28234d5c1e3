// A module as nvcc makes them: it registers a kernel when it is opened, and needs CUDA's library.
#include "tests/unit/cuda/hand_made_module.hpp"

namespace {

spillway::test::cuda::HandMadeModule g_module(spillway::test::cuda::kPtx);

}  // namespace

// Adds 1 to each of n floats, and returns at the end.
extern "C" [[gnu::visibility("default")]] cudaError_t add_one(float* at, unsigned n) {
  cudaStream_t stream = nullptr;
  if (auto const error = cudaStreamCreate(&stream); error != cudaSuccess) return error;
  auto const launched = spillway::test::cuda::launch(g_module.kernel("add"), (n + 31) / 32, 32,
                                                     stream, at, at, n, 1.0f);
  auto const ended = cudaStreamSynchronize(stream);
  auto const destroyed = cudaStreamDestroy(stream);
  for (auto const error : {launched, ended, destroyed})
    if (error != cudaSuccess) return error;
  return cudaSuccess;
}
