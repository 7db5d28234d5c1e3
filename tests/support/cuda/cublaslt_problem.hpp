// Makes one product, D = alpha op(A) op(B) + beta C, of a matmul descriptor and four layouts.
#pragma once

#include <array>
#include <cstdint>

#include "graph/tensor.hpp"
#include "tests/support/cuda/lt_objects.hpp"

namespace spillway::test::cuda {

// Holds element types as cudaDataType and cublasComputeType number them.
struct LtTypes {
  std::int32_t compute = 0, scale = 0, a = 0, b = 0, c = 0, d = 0;
  bool operator==(LtTypes const&) const = default;
};
// Throws Refused if the stand-in or cublasLt has no product of these types.
void check(LtTypes const& types);
std::int64_t element_bytes(std::int32_t type);

struct LtMatrix {
  std::int32_t type = 0;
  std::int64_t rows = 0, cols = 0;  // are as after the transposition, if there is one
  // These strides are in elements.
  std::int64_t row_stride = 0, col_stride = 0, batch_stride = 0;
  std::int64_t batch_count = 1;
  std::int64_t ld = 0;  // is the layout's leading dimension, one of the strides above

  // Returns the elements as [batch, cols, rows]. The first extent is 1 if the batch shares one
  // matrix.
  View view() const;
};
LtMatrix transposed(LtMatrix matrix);

struct LtProblem {
  LtTypes types;
  std::int64_t m = 0, n = 0, k = 0, batch_count = 1;
  std::array<LtMatrix, 4> matrices;  // are op(A), op(B), C and D
  bool has_bias = false;
  std::uintptr_t bias = 0;  // is where the bias is said to be, and it may be nowhere yet
};
inline constexpr std::array<char, 4> kMatrixNames = {'A', 'B', 'C', 'D'};

// Throws Refused if a layout is not valid or if the four layouts do not fit together.
LtProblem problem_of(LtMatmul const& matmul, std::array<LtLayout, 4> const& layouts);

}  // namespace spillway::test::cuda
