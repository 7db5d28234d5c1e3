// Goes over the elements of views.
#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/tensor.hpp"

namespace spillway::test {

inline std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// Calls f for every element of the view, row by row, with the element's position in the tensor.
template <class F>
void for_each_position(View const& view, F const& f) {
  auto const n = element_count(view.shape);
  for (std::int64_t element = 0; element < n; ++element) {
    auto rest = element;
    auto position = view.offset;
    for (auto axis = view.shape.size(); axis-- > 0;) {
      position += rest % view.shape[axis] * view.strides[axis];
      rest /= view.shape[axis];
    }
    f(position);
  }
}

}  // namespace spillway::test
