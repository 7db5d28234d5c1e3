// Describes matrix products: how matrices lie in memory, and what is added to a product.
#pragma once

#include <cstdint>

#include "base/dtype.hpp"
#include "graph/tensor.hpp"

namespace spillway {

// Describes a rows x columns matrix in memory. Strides are numbers of elements, and products need
// one of the two strides to be 1.
struct MatrixLayout {
  DType dtype = DType::f32;
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_stride = 0, column_stride = 1;

  MatrixLayout transposed() const { return {dtype, columns, rows, column_stride, row_stride}; }
};
MatrixLayout matrix_layout(DType dtype, View const& view);  // `view` must be 2-D
// Returns the layout of a matrix whose rows follow each other in memory, without gaps.
MatrixLayout dense_matrix(DType dtype, std::int64_t rows, std::int64_t columns);

// Describes the product c = a b (+ bias in every row) (+ addend) (+ c). Sums are accumulated in
// fp32 and rounded once, after all additions, by the host's products (a GPU's: cuda/product.hpp).
// a and b are both bf16 or both f32, and c is f32 or of their type. bias (1 x n, contiguous) and
// addend (m x n) have the type of a and b. With `accumulate` the product is added to what c holds,
// which must then be f32.
//
// The bits of c depend on shapes, strides, types and `threads` and on nothing else: not on which
// thread binds or runs the product, and not on addresses as long as these are multiples of 64
// bytes.
//
// oneDNN 2.6 multiplies matrices without gaps at full speed. With a leading dimension larger than
// the matrix it takes a slower path with buffers of its own (OneDnnMatmul::implementation).
struct MatmulShape {
  MatrixLayout a, b, c;
  bool bias = false;
  MatrixLayout const* addend = nullptr;  // null if there is none; used only to construct a product
  bool accumulate = false;
  // Says that zeros follow each row of a up to a multiple of 32 elements, so that tile kernels can
  // read the rows in place.
  bool a_zero_padded = false;
};

// Holds where the operands of one run begin. bias, addend and workspace may be null if the product
// has none.
struct MatmulOperands {
  void const* a;
  void const* b;
  void* c;
  void const* bias = nullptr;
  void const* addend = nullptr;
  void* workspace = nullptr;
};

}  // namespace spillway
