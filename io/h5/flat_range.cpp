#include "io/h5/flat_range.hpp"

#include <algorithm>
#include <cassert>

namespace spillway {

Box leading_box(std::span<std::int64_t const> shape, std::int64_t first, std::int64_t limit) {
  assert(!shape.empty() && limit >= 1);
  auto const rank = shape.size();
  std::vector<std::int64_t> stride(rank, 1);
  for (std::size_t axis = rank - 1; axis > 0; --axis) stride[axis - 1] = stride[axis] * shape[axis];

  // The outermost axis along which whole slices begin here and fit; the last axis always does.
  std::size_t split = 0;
  while (first % stride[split] != 0 || stride[split] > limit) ++split;

  Box box{std::vector<std::int64_t>(rank), std::vector<std::int64_t>(rank, 1), 0};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    box.start[axis] = first / stride[axis] % shape[axis];
    if (axis > split) box.count[axis] = shape[axis];
  }
  box.count[split] = std::min(shape[split] - box.start[split], limit / stride[split]);
  box.elements = box.count[split] * stride[split];
  return box;
}

}  // namespace spillway
