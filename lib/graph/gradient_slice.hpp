// Cuts a chunk's gradient into the slices that ranks sum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/math.hpp"
#include "graph/graph.hpp"

namespace spillway {

struct Slice {  // in elements
  std::int64_t first = 0, count = 0;
};

// A slice has this many elements, a multiple of kNormTile, but the last ones may be shorter, or
// empty.
inline std::int64_t gradient_slice_elements(std::int64_t elements, std::int64_t ranks) {
  return round_up(div_ceil(elements, ranks), kNormTile);
}

// Returns the slice with this number, of as many slices as there are ranks.
inline Slice gradient_slice(std::int64_t elements, std::int64_t number, std::int64_t ranks) {
  auto const slice = gradient_slice_elements(elements, ranks);
  auto const first = std::min(elements, number * slice);
  return {first, std::min(slice, elements - first)};
}

}  // namespace spillway
