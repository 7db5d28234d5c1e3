#include "kernels/matrix.hpp"

#include <cassert>

namespace spillway {

MatrixLayout matrix_layout(DType dtype, View const& view) {
  assert(view.shape.size() == 2);
  return {dtype, view.shape[0], view.shape[1], view.strides[0], view.strides[1]};
}

MatrixLayout dense_matrix(DType dtype, std::int64_t rows, std::int64_t columns) {
  return {dtype, rows, columns, columns, 1};
}

}  // namespace spillway
