// Gathers one value of every rank, in the order of ranks.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "comm/comm.hpp"

namespace spillway {

// Returns what each rank passes as `mine`, by rank. All ranks must call `gathered`. Throws
// Error(peer_lost) if a peer is gone.
template <class T>
std::vector<T> gathered(Comm& comm, T const& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<std::size_t>(comm.size()));
  comm.all_gather_bytes(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

}  // namespace spillway
