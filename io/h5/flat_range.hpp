// Contiguous ranges of an array's elements, in row-major order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spillway {

// The elements start[k] <= i_k < start[k] + count[k] of an array.
struct Box {
  std::vector<std::int64_t> start, count;

  bool operator==(Box const&) const = default;
};

// Elements [first, first + elements) of an array of `shape`, as boxes whose elements, one box after
// the other, are these in their order: fewer than two for every axis. The range lies in the array.
std::vector<Box> boxes_of_range(std::span<std::int64_t const> shape, std::int64_t first,
                                std::int64_t elements);

}  // namespace spillway
