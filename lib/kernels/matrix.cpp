#include "kernels/matrix.hpp"

#include "base/check.hpp"

namespace spillway {

MatrixLayout matrix_layout(DType dtype, View const& view) {
  check(view.shape.size() == 2, "an operand", "it is no matrix");
  return {dtype, view.shape[0], view.shape[1], view.strides[0], view.strides[1]};
}

MatrixLayout dense_matrix(DType dtype, std::int64_t rows, std::int64_t columns) {
  return {dtype, rows, columns, columns, 1};
}

}  // namespace spillway
