// Says which part of a chunk's gradient each rank sums.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/math.hpp"
#include "graph/graph.hpp"

namespace spillway {

struct Slice {  // in elements
  std::int64_t first = 0, count = 0;
};

// Returns the slice of `rank`. A slice has a multiple of kNormTile elements, but the last ones may
// be shorter, or empty.
inline Slice gradient_slice(std::int64_t elements, std::int64_t rank, std::int64_t ranks) {
  auto const slice = round_up(div_ceil(elements, ranks), kNormTile);
  auto const first = std::min(elements, rank * slice);
  return {first, std::min(slice, elements - first)};
}

}  // namespace spillway
