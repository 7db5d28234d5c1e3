#include "tests/support/cuda/cublaslt_problem.hpp"

#include <cublasLt.h>

#include <algorithm>
#include <limits>

#include "tests/support/cuda/cublaslt_call.hpp"

namespace spillway::test::cuda {
namespace {

void check(LtLayout const& layout, char name) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (layout.rows == 0 || layout.cols == 0 || layout.rows > most || layout.cols > most)
    throw invalid(fmt::format("{} has {} rows and {} columns", name, layout.rows, layout.cols));
  bool const by_columns = layout.order == CUBLASLT_ORDER_COL;
  auto const least = static_cast<std::int64_t>(by_columns ? layout.rows : layout.cols);
  if (layout.ld < least)
    throw invalid(fmt::format("{} has the leading dimension {}, and its {} are of {}", name,
                              layout.ld, by_columns ? "columns" : "rows", least));
  if (layout.batch_count < 1 || layout.batch_stride < 0)
    throw invalid(fmt::format("{} has a batch of {} with the stride {}", name, layout.batch_count,
                              layout.batch_stride));
}

LtMatrix matrix_of(LtLayout const& layout) {
  bool const by_columns = layout.order == CUBLASLT_ORDER_COL;
  return {.type = static_cast<std::int32_t>(layout.type),
          .rows = static_cast<std::int64_t>(layout.rows),
          .cols = static_cast<std::int64_t>(layout.cols),
          .row_stride = by_columns ? 1 : layout.ld,
          .col_stride = by_columns ? layout.ld : 1,
          .batch_stride = layout.batch_stride,
          .batch_count = layout.batch_count,
          .ld = layout.ld};
}

void expect_extents(LtMatrix const& matrix, char name, std::int64_t rows, std::int64_t cols) {
  if (matrix.rows == rows && matrix.cols == cols) return;
  throw invalid(fmt::format("{} is {} x {} in the product, and the others want {} x {}", name,
                            matrix.rows, matrix.cols, rows, cols));
}

}  // namespace

std::int64_t element_bytes(std::int32_t type) {
  return type == CUDA_R_16BF ? 2 : 4;
}

void check(LtTypes const& types) {
  auto const is_known = [](std::int32_t type) { return type == CUDA_R_32F || type == CUDA_R_16BF; };
  if (types.compute != CUBLAS_COMPUTE_32F || types.scale != CUDA_R_32F)
    throw not_supported("the stand-in computes and scales in fp32 alone");
  for (auto const type : {types.a, types.b, types.c, types.d}) {
    if (!is_known(type)) throw not_supported("the stand-in has matrices of fp32 and bf16 alone");
  }
  if (types.a != types.b) throw invalid("A and B have different types");
  if (types.c != types.d) throw invalid("C and D have different types");
  if (types.a == CUDA_R_32F && types.d == CUDA_R_16BF)
    throw not_supported("cublasLt makes no bf16 of fp32 matrices");
}

View LtMatrix::view() const {
  auto const apart = batch_stride == 0 ? std::int64_t{1} : batch_count;
  return {.shape = {apart, cols, rows}, .strides = {batch_stride, col_stride, row_stride}};
}

LtMatrix transposed(LtMatrix matrix) {
  std::swap(matrix.rows, matrix.cols);
  std::swap(matrix.row_stride, matrix.col_stride);
  return matrix;
}

LtProblem problem_of(LtMatmul const& matmul, std::array<LtLayout, 4> const& layouts) {
  LtProblem result;
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    check(layouts[i], kMatrixNames[i]);
    result.matrices[i] = matrix_of(layouts[i]);
  }
  auto& [a, b, c, d] = result.matrices;
  if (matmul.transpose_a == CUBLAS_OP_T) a = transposed(a);
  if (matmul.transpose_b == CUBLAS_OP_T) b = transposed(b);
  result.types = {matmul.compute_type, matmul.scale_type, a.type, b.type, c.type, d.type};
  check(result.types);
  result.m = d.rows, result.n = d.cols, result.k = a.cols, result.batch_count = d.batch_count;
  result.has_bias = matmul.epilogue == CUBLASLT_EPILOGUE_BIAS;
  result.bias = reinterpret_cast<std::uintptr_t>(matmul.bias);
  expect_extents(a, 'A', result.m, result.k);
  expect_extents(b, 'B', result.k, result.n);
  expect_extents(c, 'C', result.m, result.n);
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    if (result.matrices[i].batch_count != result.batch_count)
      throw invalid(fmt::format("{} has another batch count than D", kMatrixNames[i]));
  }
  if (result.has_bias && matmul.bias_type != -1 && matmul.bias_type != d.type)
    throw not_supported("CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE is another type than that of D");
  return result;
}

}  // namespace spillway::test::cuda
