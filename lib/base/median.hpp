// The middle of some numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace spillway {

// Of an even number of them the upper one. There must be one.
inline double median(std::vector<double> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace spillway
