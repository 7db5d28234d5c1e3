// Asks CUDA what failures it has noted of calls that cannot return them, such as launches.
#pragma once

#include <cuda_runtime_api.h>

namespace spillway {

// Returns the failure that CUDA has noted for the calling thread since the last such question, or
// cudaSuccess. That an event was not done when it was asked is no failure: CUDA promises not to
// note it, but not every runtime keeps that promise.
inline cudaError_t noted_failure() {
  auto const noted = cudaGetLastError();
  return noted == cudaErrorNotReady ? cudaSuccess : noted;
}

}  // namespace spillway
