// Implements copies, fills and registered memory of CUDA's runtime API.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <cstring>

#include "tests/support/cuda/call.hpp"

namespace cuda = spillway::test::cuda;
using cuda::AddressRange;
using cuda::call;
using cuda::call_that_enqueues;
using cuda::number;
using cuda::Piece;
using cuda::State;

namespace {

bool fits(cudaMemcpyKind kind, bool to_device, bool from_device) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return !to_device && !from_device;
    case cudaMemcpyHostToDevice:
      return to_device && !from_device;
    case cudaMemcpyDeviceToHost:
      return !to_device && from_device;
    case cudaMemcpyDeviceToDevice:
      return to_device && from_device;
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

// Returns whether the range is main memory of which no part is registered. CUDA copies such memory
// differently.
bool is_pageable(State const& all, AddressRange const& range) {
  return !is_device(all, range) && !all.pinned.touches(range);
}

// Copies from or to pageable memory. When this returns, a copy from the device has ended, and a
// copy to the device has read its source.
cudaError_t copy_pageable(State& all, int stream, Piece piece, bool to_device) {
  if (auto const error = cuda::finish(all, stream); error != cudaSuccess) return error;
  auto const bytes = static_cast<std::size_t>(piece.to.size);
  if (to_device) {
    piece.staged.assign(piece.from, piece.from + bytes);
    piece.from = piece.staged.data();
    piece.accesses.erase(piece.accesses.begin());
    cuda::enqueue(all, stream, std::move(piece));
    return cudaSuccess;
  }
  std::memcpy(piece.to.at, piece.from, bytes);
  cuda::note_done(all, stream, std::move(piece));
  return cudaSuccess;
}

cudaError_t copy(State& all, AddressRange const& to, AddressRange const& from, cudaMemcpyKind kind,
                 int stream, bool stuck) {
  auto const touched = [&](AddressRange const& range) {
    auto* const plain = reinterpret_cast<std::byte*>(range.first);
    return is_pageable(all, range) ? plain : reachable(all, range);
  };
  auto* const to_at = touched(to);
  auto const* const from_at = touched(from);
  if (to_at == nullptr || from_at == nullptr)
    return cuda::refuse(cudaErrorInvalidValue,
                        "a copy of bytes that are not all accessible, or not all registered");
  if (!fits(kind, is_device(all, to), is_device(all, from)))
    return cuda::refuse(cudaErrorInvalidMemcpyDirection, "a copy in another direction than said");
  if (to.overlaps(from))
    return cuda::refuse(cudaErrorInvalidValue, "a copy of bytes to themselves");
  Piece piece{.kind = Piece::Kind::copy,
              .label = "copy",
              .to = {to_at, to.bytes},
              .from = from_at,
              .accesses = {{from, false}, {to, true}},
              .stuck = stuck};
  if (is_pageable(all, to) || is_pageable(all, from))
    return copy_pageable(all, stream, std::move(piece), is_device(all, to));
  cuda::enqueue(all, stream, std::move(piece));
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call_that_enqueues("cudaMemcpyAsync", [&](State& all, bool stuck) {
    auto const* const queue = all.queues.stream(number(stream));
    if (queue == nullptr)
      return cuda::refuse(cudaErrorInvalidResourceHandle, "a stream that does not exist");
    cuda::expect_chosen(queue->device, "work");
    if (bytes == 0) return cudaSuccess;
    auto const size = static_cast<std::int64_t>(bytes);
    return copy(all, cuda::range_of(to, size), cuda::range_of(from, size), kind, number(stream),
                stuck);
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return call_that_enqueues("cudaMemsetAsync", [&](State& all, bool stuck) {
    auto const* const queue = all.queues.stream(number(stream));
    if (queue == nullptr)
      return cuda::refuse(cudaErrorInvalidResourceHandle, "a stream that does not exist");
    cuda::expect_chosen(queue->device, "work");
    if (bytes == 0) return cudaSuccess;
    auto const range = cuda::range_of(to, static_cast<std::int64_t>(bytes));
    auto* const at = reachable(all, range);
    if (at == nullptr)
      return cuda::refuse(cudaErrorInvalidValue, "a fill of bytes that are not all accessible");
    Piece piece{.kind = Piece::Kind::fill,
                .label = "fill",
                .to = {at, range.bytes},
                .value = value,
                .accesses = {{range, true}},
                .stuck = stuck};
    cuda::enqueue(all, number(stream), std::move(piece));
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* first, std::size_t bytes, unsigned) {
  return call("cudaHostRegister", [&](State& all) {
    ::madvise(first, bytes, MADV_POPULATE_WRITE);  // CUDA makes registered memory resident
    return all.pinned.add(cuda::range_of(first, static_cast<std::int64_t>(bytes)));
  });
}

cudaError_t cudaHostUnregister(void* first) {
  return call(
      "cudaHostUnregister",
      [&](State& all) {
        auto const range = all.pinned.find(reinterpret_cast<std::uintptr_t>(first));
        cuda::end_work_on(all, range, "registered memory is given back");
        all.accesses.forget(range);
        return all.pinned.remove(reinterpret_cast<std::uintptr_t>(first));
      },
      cuda::Gives::back);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call("cudaHostGetDevicePointer", [&](State& all) {
    if (flags != 0 || !all.pinned.holds(cuda::range_of(host, 1)))
      return cuda::refuse(cudaErrorInvalidValue, "a device address of what is not registered");
    *device = host;
    return cudaSuccess;
  });
}
