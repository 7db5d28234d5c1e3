// Computes the median of some numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace spillway {

// Returns the middle value or, if the number of values is even, the larger one of the two in the
// middle. `values` must not be empty.
inline double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace spillway
