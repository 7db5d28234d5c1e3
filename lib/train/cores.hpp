// How many cores a rank may call its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace spillway {

// What one rank may run on. A launcher gives ranks of a node disjoint sets, or all of them the
// same.
struct CoreShare {
  std::array<char, 64> host{};
  std::array<std::uint64_t, 16> mask{};  // a bit per core
  std::int64_t cores = 1;                // of the mask, or fewer where a control group has a quota
};
CoreShare core_share();

// The cores of `rank`, divided among the ranks of its host whose masks overlap its own; at least 1.
std::int64_t own_cores(std::span<CoreShare const> all, int rank);

}  // namespace spillway
