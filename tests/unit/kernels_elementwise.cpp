// add, accumulate, tree_sum, gelu and its gradient, select_row, against their serial references.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernel_harness.hpp"

namespace spillway {
namespace {

using test::KernelHarness;

class EachType : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(KernelElements, EachType, ::testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

TEST_P(EachType, AddRoundsTheExactSumOnce) {
  KernelHarness h;
  auto const a = h.tensor(GetParam(), {37, 83}), b = h.tensor(GetParam(), {37, 83});
  auto const c = h.tensor(GetParam(), {37, 83});
  h.fill_normal(a, 1);
  h.fill_normal(b, 100);
  h.set(a, 5, 1);
  h.set(b, 5, 0x1p-8);  // half an ulp of bf16 above 1: to even
  h.op(OpKind::add, {a, b}, {c});
  h.run(kernel_add());
  h.expect_same_bytes(c);
  EXPECT_EQ(h.result(c, 5), GetParam() == DType::bf16 ? 1.0 : 1.00390625);
}

}  // namespace
}  // namespace spillway
