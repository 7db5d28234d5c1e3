// Describes contiguous ranges of an array's elements, in row-major order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spillway {

// A Box has the elements whose index in every axis k is in [start[k], start[k] + count[k]).
struct Box {
  std::vector<std::int64_t> start, count;

  bool operator==(Box const&) const = default;
};

// Returns elements [first, first + elements) of an array of `shape` as boxes, whose elements, one
// box after the other, are those of the range in order. An array of n axes has at most 2n - 1
// boxes. The range must lie in the array.
std::vector<Box> boxes_of_range(std::span<std::int64_t const> shape, std::int64_t first,
                                std::int64_t elements);

}  // namespace spillway
