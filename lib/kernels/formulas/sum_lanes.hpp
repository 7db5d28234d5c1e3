// The order of every sum over a row, on hosts and on devices: element j belongs to lane
// j mod kSumLanes, a lane adds its elements in their order, and lanes are added as a tree. SIMD and
// teams follow it at full speed; no compiler, number of threads or team size changes it.
#pragma once

#include "base/function.hpp"

namespace spillway {

inline constexpr int kSumLanes = 32;

// The sum of lane[0, kSumLanes), which it overwrites.
template <class Sum>
SPILLWAY_FUNCTION Sum sum_lanes(Sum* lane) {
  for (int width = kSumLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}

}  // namespace spillway
