// What a matmul descriptor and four layouts ask for together: D = alpha op(A) op(B) + beta C.
#pragma once

#include <array>
#include <cstdint>

#include "graph/tensor.hpp"
#include "tests/support/cuda/lt_objects.hpp"

namespace spillway::test::cuda {

// Types of numbers, as cudaDataType and cublasComputeType have them.
struct LtTypes {
  std::int32_t compute = 0, scale = 0, a = 0, b = 0, c = 0, d = 0;
  bool operator==(LtTypes const&) const = default;
};
// Throws Refused if the stand-in, or cublasLt, has no product of these.
void check(LtTypes const& types);
std::int64_t element_bytes(std::int32_t type);

struct LtMatrix {
  std::int32_t type = 0;
  std::int64_t rows = 0, cols = 0;  // as the product sees it, transposed or not
  std::int64_t row_stride = 0, col_stride = 0, batch_stride = 0;  // in elements
  std::int64_t batch_count = 1;
  std::int64_t ld = 0;  // the layout's: one of the strides above, the other one is 1

  // Returns its elements as [batch, cols, rows]; a matrix that the batch shares is there once.
  View view() const;
};
LtMatrix transposed(LtMatrix matrix);

struct LtProblem {
  LtTypes types;
  std::int64_t m = 0, n = 0, k = 0, batch_count = 1;
  std::array<LtMatrix, 4> matrices;  // op(A), op(B), C and D
};
inline constexpr std::array<char, 4> kMatrixNames = {'A', 'B', 'C', 'D'};

// Throws Refused: layouts are no matrices, or do not belong to one product.
LtProblem problem_of(LtMatmul const& matmul, std::array<LtLayout, 4> const& layouts);

}  // namespace spillway::test::cuda
