// Enqueues copies and fills, for which the API has several functions.
#pragma once

#include "tests/support/cuda/call.hpp"
#include "tests/support/cuda/default_stream.hpp"

namespace spillway::test::cuda {

// Appends a copy to a stream. If one side is main memory that CUDA does not know, a copy from the
// device has ended when this returns, and a copy to the device has read its source.
cudaError_t copy(State& all, AddressRange const& to, AddressRange const& from, cudaMemcpyKind kind,
                 int stream, bool stuck);
cudaError_t fill(State& all, AddressRange const& to, int value, int stream, bool stuck);

inline AddressRange bytes_at(void const* at, std::size_t bytes) {
  return range_of(at, static_cast<std::int64_t>(bytes));
}

// Functions that return when their work has ended use this. The work is `body(stream)` on the
// default stream.
template <class Body>
cudaError_t on_default_stream(State& all, Body const& body) {
  auto const stream = default_stream(all);
  if (auto const error = finish(all, stream); error != cudaSuccess) return error;
  if (auto const error = body(stream); error != cudaSuccess) return error;
  return finish(all, stream);
}

// Functions that enqueue work into a stream of the program use this, with `body(stream)`.
template <class Body>
cudaError_t in_stream(State& all, cudaStream_t stream, Body const& body) {
  auto const* const queue = all.queues.stream(number(stream));
  if (queue == nullptr) return no_such_stream();
  expect_chosen(queue->device, "work");
  return body(number(stream));
}

}  // namespace spillway::test::cuda
