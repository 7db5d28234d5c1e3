#include "io/h5/flat_range.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace spillway {
namespace {

class Cutter {
 public:
  explicit Cutter(std::span<std::int64_t const> shape)
      : m_shape(shape), m_indices(shape.size(), 0) {}

  // Cuts elements [begin, end) of the subarray that the first `axis` indices of m_indices choose
  // into boxes.
  void cut(std::size_t axis, std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    auto const stride = elements_below(axis);
    if (auto const row = begin / stride; begin % stride != 0) {
      auto const row_end = std::min(end, (row + 1) * stride);
      cut_row(axis, row, begin - row * stride, row_end - row * stride);
      return cut(axis, row_end, end);
    }
    auto const rows_end = end / stride;
    add_rows(axis, begin / stride, rows_end);
    cut_row(axis, rows_end, 0, end - rows_end * stride);
  }

  std::vector<Box> boxes() && { return std::move(m_boxes); }

 private:
  std::int64_t elements_below(std::size_t axis) const {
    auto const below = m_shape.subspan(axis + 1);
    return std::accumulate(below.begin(), below.end(), std::int64_t{1}, std::multiplies<>());
  }

  void cut_row(std::size_t axis, std::int64_t row, std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    m_indices[axis] = row;
    cut(axis + 1, begin, end);
    m_indices[axis] = 0;
  }

  void add_rows(std::size_t axis, std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    Box box{m_indices, {m_shape.begin(), m_shape.end()}};
    std::fill_n(box.count.begin(), axis, 1);
    box.start[axis] = begin;
    box.count[axis] = end - begin;
    m_boxes.push_back(std::move(box));
  }

  std::span<std::int64_t const> m_shape;
  std::vector<std::int64_t> m_indices;  // indices of the current subarray, followed by zeros
  std::vector<Box> m_boxes;
};

}  // namespace

std::vector<Box> boxes_of_range(std::span<std::int64_t const> shape, std::int64_t first,
                                std::int64_t elements) {
  Cutter cutter(shape);
  cutter.cut(0, first, first + elements);
  return std::move(cutter).boxes();
}

}  // namespace spillway
