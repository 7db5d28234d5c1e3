// Implements copies from and to the variables of kernels.
#include <cuda_runtime_api.h>

#include "tests/support/cuda/copies.hpp"
#include "tests/support/cuda/ptx_launch.hpp"

namespace cuda = spillway::test::cuda;
using cuda::AddressRange;
using cuda::bytes_at;
using cuda::call_that_enqueues;
using cuda::in_stream;
using cuda::on_default_stream;
using cuda::State;

namespace {

// Calls copy(range) with where `bytes` of a variable are, from `offset` on. Does nothing if no
// kernel uses the variable.
template <class Copy>
cudaError_t with_variable(State& all, void const* symbol, std::size_t bytes, std::size_t offset,
                          Copy const& copy) {
  auto const* const variable = all.code.variable(symbol);
  if (variable == nullptr)
    return cuda::refuse(cudaErrorInvalidSymbol, "a variable that was never registered");
  if (offset > variable->bytes || bytes > variable->bytes - offset)
    return cuda::refuse(cudaErrorInvalidValue,
                        "more bytes than variable " + variable->name + " has");
  auto const* const loaded = loaded_code(*variable->binary, "variable " + variable->name);
  if (loaded == nullptr) return cudaErrorInvalidPtx;
  auto const* const at = loaded->variable(variable->name);
  if (at == nullptr || bytes == 0) return cudaSuccess;
  return copy(bytes_at(at->host + offset, bytes));
}

}  // namespace

cudaError_t cudaMemcpyToSymbol(void const* symbol, void const* from, std::size_t bytes,
                               std::size_t offset, cudaMemcpyKind kind) {
  return call_that_enqueues("cudaMemcpyToSymbol", [&](State& all, bool stuck) {
    return with_variable(all, symbol, bytes, offset, [&](AddressRange const& to) {
      return on_default_stream(
          all, [&](int id) { return copy(all, to, bytes_at(from, bytes), kind, id, stuck); });
    });
  });
}

cudaError_t cudaMemcpyToSymbolAsync(void const* symbol, void const* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return call_that_enqueues("cudaMemcpyToSymbolAsync", [&](State& all, bool stuck) {
    return with_variable(all, symbol, bytes, offset, [&](AddressRange const& to) {
      return in_stream(all, stream, [&](int id) {
        return copy(all, to, bytes_at(from, bytes), kind, id, stuck);
      });
    });
  });
}

cudaError_t cudaMemcpyFromSymbol(void* to, void const* symbol, std::size_t bytes,
                                 std::size_t offset, cudaMemcpyKind kind) {
  return call_that_enqueues("cudaMemcpyFromSymbol", [&](State& all, bool stuck) {
    return with_variable(all, symbol, bytes, offset, [&](AddressRange const& from) {
      return on_default_stream(
          all, [&](int id) { return copy(all, bytes_at(to, bytes), from, kind, id, stuck); });
    });
  });
}

cudaError_t cudaGetSymbolAddress(void** address, void const* symbol) {
  return cuda::call("cudaGetSymbolAddress", [&](State& all) {
    *address = nullptr;
    return with_variable(all, symbol, 1, 0, [&](AddressRange const& at) {
      *address = reinterpret_cast<void*>(at.first);
      return cudaSuccess;
    });
  });
}
