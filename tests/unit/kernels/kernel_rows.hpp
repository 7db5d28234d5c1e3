// The suite KernelRows: kernels of rows, for types of elements and of gradients. kernels_rows.cpp
// says for which, also for the tests in other files.
#pragma once

#include <gtest/gtest.h>

#include "tests/support/kernel_harness.hpp"

namespace spillway::test {

struct Types {
  DType element, gradient;
};

class KernelRows : public ::testing::TestWithParam<Types> {
 protected:
  DType T() const { return GetParam().element; }
  DType G() const { return GetParam().gradient; }
  // Two neighbours among the numbers that can be stored, relative: both sides round, at times
  // apart.
  static double rounding(DType t) { return t == DType::bf16 ? 0x1p-7 : 0x1p-22; }
};

}  // namespace spillway::test
