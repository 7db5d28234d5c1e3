#include "graph/tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "graph/refuse.hpp"

namespace spillway {
namespace {

void require(bool holds, View const& view, char const* why) {
  if (!holds) refuse_graph("", "number " + std::to_string(view.tensor), why);
}

Shape row_major(Shape const& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

}  // namespace

void check_size(Tensor const& tensor) {
  std::optional<std::int64_t> bytes = size_bytes(tensor.dtype);
  for (auto const extent : tensor.shape) {
    if (bytes) bytes = product({*bytes, extent});
  }
  if (bytes && *bytes <= kMostBytes) return;
  throw Error(Status::bad_input,
              fmt::format("model: {} [{}] takes more than {}, which no machine has", tensor.name,
                          fmt::join(tensor.shape, ", "), human_bytes(kMostBytes)));
}

View whole(Tensor const& tensor) {
  return {tensor.id, 0, tensor.shape, row_major(tensor.shape)};
}

View transposed(View const& view) {
  require(view.shape.size() == 2, view, "only a matrix can be transposed");
  View result = view;
  std::swap(result.shape[0], result.shape[1]);
  std::swap(result.strides[0], result.strides[1]);
  return result;
}

View row_range(View const& view, std::int64_t first, std::int64_t n) {
  require(!view.shape.empty() && first >= 0 && n >= 0 && first + n <= view.shape[0], view,
          "has no such rows");
  View result = view;
  result.offset += first * view.strides[0];
  result.shape[0] = n;
  return result;
}

View columns(View const& view, std::int64_t first, std::int64_t n) {
  require(view.shape.size() == 2 && first >= 0 && n >= 0 && first + n <= view.shape[1], view,
          "has no such columns");
  View result = view;
  result.offset += first * view.strides[1];
  result.shape[1] = n;
  return result;
}

View reshaped(View const& view, Shape shape) {
  require(is_contiguous(view) && element_count(shape) == element_count(view.shape), view,
          "has other elements than the new shape");
  auto strides = row_major(shape);
  return {view.tensor, view.offset, std::move(shape), std::move(strides)};
}

bool is_contiguous(View const& view) {
  return view.strides == row_major(view.shape);
}

ElementRange bounding_range(View const& view) {
  if (element_count(view.shape) == 0) return {view.offset, view.offset};
  std::int64_t last = view.offset + 1;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    last += (view.shape[d] - 1) * view.strides[d];
  }
  return {view.offset, last};
}

}  // namespace spillway
