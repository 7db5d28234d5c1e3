// A flat range of a row-major array as axis-aligned boxes, which is what HDF5 can transfer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spillway {

struct Box {
  std::vector<std::int64_t> start, count;  // by axis
  std::int64_t elements;
};

// The largest box that begins at flat element `first`, is contiguous in row-major order, and has at
// most `limit` elements (>= 1, and inside the array). Taking box after box covers a range of an
// array of rank r in at most 2 r - 1 boxes.
Box leading_box(std::span<std::int64_t const> shape, std::int64_t first, std::int64_t limit);

}  // namespace spillway
