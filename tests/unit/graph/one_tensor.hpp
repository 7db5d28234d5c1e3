// A tensor of a graph that has no others.
#pragma once

#include <utility>

#include "graph/tensor.hpp"

namespace spillway::test {

inline Tensor tensor(Shape shape, DType dtype = DType::f32) {
  return {.id = 0, .name = "t", .dtype = dtype, .shape = std::move(shape)};
}

}  // namespace spillway::test
