#include "report/page/thinning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spillway {
namespace {

// Marks the rows of [first, last) with the least and the greatest value.
void mark_extremes(std::vector<double> const& values, std::size_t first, std::size_t last,
                   std::vector<bool>& marked) {
  auto least = last, most = last;
  for (auto row = first; row < last; ++row) {
    if (!std::isfinite(values[row])) continue;
    if (least == last || values[row] < values[least]) least = row;
    if (most == last || values[row] > values[most]) most = row;
  }
  if (least == last) return;
  marked[least] = marked[most] = true;
}

}  // namespace

std::vector<std::size_t> thinned(std::span<std::vector<double> const> columns, std::size_t most) {
  auto const rows = columns.empty() ? 0 : columns.front().size();
  std::vector<bool> marked(rows, rows <= most);
  if (rows > most) {
    auto const stretches = std::max<std::size_t>(1, most / (2 * columns.size()));
    for (std::size_t stretch = 0; stretch < stretches; ++stretch)
      for (auto const& column : columns)
        mark_extremes(column, stretch * rows / stretches, (stretch + 1) * rows / stretches, marked);
    marked.front() = marked.back() = true;
  }
  std::vector<std::size_t> result;
  for (std::size_t row = 0; row < rows; ++row)
    if (marked[row]) result.push_back(row);
  return result;
}

}  // namespace spillway
