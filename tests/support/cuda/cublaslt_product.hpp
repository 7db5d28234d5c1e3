// The arithmetic of a product: plain loops, and the same bits every time.
#pragma once

#include <cstddef>

#include "tests/support/cuda/cublaslt_problem.hpp"

namespace spillway::test::cuda {

// Where its operands can be touched.
struct LtProduct {
  LtProblem problem;
  std::int32_t splits = 1;
  float alpha = 1, beta = 0;
  std::byte const *a = nullptr, *b = nullptr;
  std::byte const* c = nullptr;     // may be D itself; is not read if beta is 0
  std::byte const* bias = nullptr;  // of D's type, one element a row of D; null: none
  std::int64_t bias_batch_stride = 0;
  std::byte* d = nullptr;
};

// Sums in fp64 and rounds once to fp32; what is bf16 is rounded from there, as from an accumulator.
// If K is split, each part's sum is rounded to fp32 as well.
void multiply(LtProduct const& product);

}  // namespace spillway::test::cuda
