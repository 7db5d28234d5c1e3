// Defines the order in which kernels sum the elements of a row, on hosts and on devices: element j
// is added to partial sum (lane) j mod kSumLanes, each lane adds its elements in ascending order,
// and the lanes are then added as a tree. SIMD code and teams of threads can follow this order at
// full speed, and no compiler, number of threads or team size changes it.
#pragma once

#include "base/function.hpp"

namespace spillway {

inline constexpr int kSumLanes = 32;

// Returns the sum of lane[0] to lane[kSumLanes - 1], and overwrites the lanes.
template <class Sum>
SPILLWAY_FUNCTION Sum sum_lanes(Sum* lane) {
  for (int width = kSumLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}

}  // namespace spillway
