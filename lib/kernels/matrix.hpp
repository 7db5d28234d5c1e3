// What a matrix product is asked for: matrices in memory, and what is added to the product.
#pragma once

#include <cstdint>

#include "base/dtype.hpp"
#include "graph/tensor.hpp"

namespace spillway {

// A rows x columns matrix somewhere in memory; strides in elements, at least one of them 1.
struct MatrixLayout {
  DType dtype = DType::f32;
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_stride = 0, column_stride = 1;

  MatrixLayout transposed() const { return {dtype, columns, rows, column_stride, row_stride}; }
};
MatrixLayout matrix_layout(DType dtype, View const& view);                        // of a 2-D view
MatrixLayout dense_matrix(DType dtype, std::int64_t rows, std::int64_t columns);  // row by row

// c = a b (+ bias in every row) (+ addend) (+ c), accumulated in fp32 and rounded once, at the end.
// a and b are both bf16 or both f32; c is f32 or of their type; bias (1 x n, contiguous) and addend
// (m x n) are of their type. `accumulate` adds to what c holds, which must then be f32.
//
// The bits of c depend on shapes, strides, types and `threads`, on nothing else: not on which
// thread binds or runs, not on addresses (multiples of 64 bytes, as layouts give them).
//
// Dense operands run at full speed. A leading dimension larger than the matrix sends oneDNN 2.6
// from its blocked kernels to a slower path with buffers of its own (`implementation` tells).
struct MatmulShape {
  MatrixLayout a, b, c;
  bool bias = false;
  MatrixLayout const* addend = nullptr;  // read by the constructor only
  bool accumulate = false;
  // The rows of a go on with zeros to a multiple of 32 elements: tiles then read them in place.
  bool a_zero_padded = false;
};

// Where the operands of one run begin. bias and addend may be null if the shape has none.
struct MatmulOperands {
  void const* a;
  void const* b;
  void* c;
  void const* bias = nullptr;
  void const* addend = nullptr;
  void* workspace = nullptr;
};

}  // namespace spillway
