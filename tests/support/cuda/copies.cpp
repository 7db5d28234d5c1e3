#include "tests/support/cuda/copies.hpp"

#include <utility>

namespace spillway::test::cuda {
namespace {

// Returns whether a copy may name this range as the device's or, if not as_device, as the host's.
// Managed memory may be named as either.
bool is_named(State const& all, AddressRange const& range, bool as_device) {
  if (all.allocations.is_managed(range)) return true;
  bool const is_variable = all.code.variable_around(range.first, 1).has_value();
  return (is_variable || is_device(all, range)) == as_device;
}

bool fits(State const& all, cudaMemcpyKind kind, AddressRange const& to, AddressRange const& from) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return is_named(all, to, false) && is_named(all, from, false);
    case cudaMemcpyHostToDevice:
      return is_named(all, to, true) && is_named(all, from, false);
    case cudaMemcpyDeviceToHost:
      return is_named(all, to, false) && is_named(all, from, true);
    case cudaMemcpyDeviceToDevice:
      return is_named(all, to, true) && is_named(all, from, true);
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

// Returns whether the range is main memory of which no part is registered. CUDA copies such memory
// differently.
bool is_pageable(State const& all, AddressRange const& range) {
  return !is_device(all, range) && !all.pinned.touches(range) &&
         !all.allocations.is_managed(range) && !all.code.variable_around(range.first, 1);
}

// Copies from or to pageable memory. When this returns, a copy from the device has ended, and a
// copy to the device has read its source, which is the first of its accesses.
cudaError_t copy_pageable(State& all, int stream, Piece piece, bool to_device) {
  if (auto const error = finish(all, stream); error != cudaSuccess) return error;
  auto const bytes = static_cast<std::size_t>(piece.to.size);
  if (to_device) {
    piece.staged.assign(piece.from.at, piece.from.at + bytes);
    piece.from = {piece.staged.data()};
    piece.accesses.erase(piece.accesses.begin());
    enqueue(all, stream, std::move(piece));
    return cudaSuccess;
  }
  move(piece.to, piece.from);
  note_done(all, stream, std::move(piece));
  return cudaSuccess;
}

}  // namespace

cudaError_t copy(State& all, AddressRange const& to, AddressRange const& from, cudaMemcpyKind kind,
                 int stream, bool stuck) {
  auto const touched = [&](AddressRange const& range) {
    Bytes const plain{reinterpret_cast<std::byte*>(range.first), range.bytes};
    return is_pageable(all, range) ? plain : reachable_bytes(all, range);
  };
  if (is_device(all, from)) all.pinned.keep_states(to);
  auto const to_bytes = touched(to), from_bytes = touched(from);
  if (to_bytes.at == nullptr || from_bytes.at == nullptr)
    return refuse(cudaErrorInvalidValue,
                  "a copy of bytes that are not all accessible, or not all registered");
  if (!fits(all, kind, to, from))
    return refuse(cudaErrorInvalidMemcpyDirection, "a copy in another direction than said");
  if (to.overlaps(from)) return refuse(cudaErrorInvalidValue, "a copy of bytes to themselves");
  Piece piece{.kind = Piece::Kind::copy,
              .label = "copy",
              .to = to_bytes,
              .from = {from_bytes.at, from_bytes.states, !is_device(all, from)},
              .accesses = {{from, false}, {to, true}},
              .stuck = stuck};
  if (is_pageable(all, to) || is_pageable(all, from))
    return copy_pageable(all, stream, std::move(piece), is_pageable(all, from));
  enqueue(all, stream, std::move(piece));
  return cudaSuccess;
}

cudaError_t fill(State& all, AddressRange const& to, int value, int stream, bool stuck) {
  auto const bytes = reachable_bytes(all, to);
  if (bytes.at == nullptr)
    return refuse(cudaErrorInvalidValue, "a fill of bytes that are not all accessible");
  Piece piece{.kind = Piece::Kind::fill,
              .label = "fill",
              .to = bytes,
              .value = value,
              .accesses = {{to, true}},
              .stuck = stuck};
  enqueue(all, stream, std::move(piece));
  return cudaSuccess;
}

}  // namespace spillway::test::cuda
