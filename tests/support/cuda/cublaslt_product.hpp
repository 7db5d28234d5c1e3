// Computes a product with plain loops, so that the bits are the same every time.
#pragma once

#include <cstddef>

#include "tests/support/cuda/cublaslt_problem.hpp"

namespace spillway::test::cuda {

// Says what to compute and where the operands can be touched.
struct LtProduct {
  LtProblem problem;
  std::int32_t splits = 1;
  float alpha = 1, beta = 0;
  std::byte const *a = nullptr, *b = nullptr;
  std::byte const* c = nullptr;  // may be equal to `d`; is not read if beta is 0
  // Has D's type and one element for each row of D; null if there is no bias.
  std::byte const* bias = nullptr;
  std::int64_t bias_batch_stride = 0;
  std::byte* d = nullptr;
};

// Sums in fp64 and rounds once to fp32, which is rounded again if D is bf16. If K is split, the sum
// of each part is rounded to fp32 as well.
void multiply(LtProduct const& product);

}  // namespace spillway::test::cuda
