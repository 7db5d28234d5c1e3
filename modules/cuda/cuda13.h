// Gives the functions that changed in CUDA 13 the signatures with which Kokkos 4.7 calls them. It
// is included before every source that includes Kokkos.
#pragma once

#if defined(__cplusplus) && defined(__CUDACC__)
#include <cuda_runtime_api.h>
#if CUDART_VERSION >= 13000

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, cudaGraphNode_t const* from,
                                            cudaGraphNode_t const* to, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

inline cudaMemLocation spillway_location(int device) {
  cudaMemLocation where = {};
  where.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  where.id = device == cudaCpuDeviceId ? 0 : device;
  return where;
}

inline cudaError_t cudaMemPrefetchAsync(void const* bytes, size_t count, int device,
                                        cudaStream_t stream) {
  return cudaMemPrefetchAsync(bytes, count, spillway_location(device), 0u, stream);
}

inline cudaError_t cudaMemAdvise(void const* bytes, size_t count, cudaMemoryAdvise advice,
                                 int device) {
  return cudaMemAdvise(bytes, count, advice, spillway_location(device));
}

#endif
#endif
