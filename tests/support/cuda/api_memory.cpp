// Implements copies and fills of CUDA's runtime API.
#include <cuda_runtime_api.h>

#include "tests/support/cuda/copies.hpp"

namespace cuda = spillway::test::cuda;
using cuda::bytes_at;
using cuda::call_that_enqueues;
using cuda::in_stream;
using cuda::on_default_stream;
using cuda::State;

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call_that_enqueues("cudaMemcpyAsync", [&](State& all, bool stuck) {
    return in_stream(all, stream, [&](int id) {
      if (bytes == 0) return cudaSuccess;
      return copy(all, bytes_at(to, bytes), bytes_at(from, bytes), kind, id, stuck);
    });
  });
}

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call_that_enqueues("cudaMemcpy", [&](State& all, bool stuck) {
    if (bytes == 0) return cudaSuccess;
    return on_default_stream(all, [&](int id) {
      return copy(all, bytes_at(to, bytes), bytes_at(from, bytes), kind, id, stuck);
    });
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return call_that_enqueues("cudaMemsetAsync", [&](State& all, bool stuck) {
    return in_stream(all, stream, [&](int id) {
      return bytes == 0 ? cudaSuccess : fill(all, bytes_at(to, bytes), value, id, stuck);
    });
  });
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return call_that_enqueues("cudaMemset", [&](State& all, bool stuck) {
    if (bytes == 0) return cudaSuccess;
    return on_default_stream(
        all, [&](int id) { return fill(all, bytes_at(to, bytes), value, id, stuck); });
  });
}
