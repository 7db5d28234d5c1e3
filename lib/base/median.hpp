// Computes the median of some numbers, or of times that may have been disturbed.
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

// Returns the median of some times of equal work or, if one is more than twice as long as another,
// the shortest: other processes made the rest longer, and nothing makes work shorter.
inline double undisturbed_time(std::vector<double> const& times_s) {
  auto const [shortest_s, longest_s] = std::ranges::minmax(times_s);
  return longest_s > 2 * shortest_s ? shortest_s : median(times_s);
}

}  // namespace spillway
