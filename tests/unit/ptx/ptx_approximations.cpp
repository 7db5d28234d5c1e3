// Compares approximations, which the interpreter rounds correctly, with functions of long double.
#include <cmath>

#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_approximations_test {
namespace {

using F = float;

// Applies the function of long double and rounds its result once.
template <long double (*f)(long double)>
F rounded(F x) {
  return canonical(static_cast<F>(f(x)));
}
template <long double (*f)(long double)>
F flushed(F x) {
  return without_subnormal(rounded<f>(without_subnormal(x)));
}
template <long double (*f)(long double)>
void expect_rounded(std::string const& opcode) {
  expect_op<F, F>(opcode + ".f32", rounded<f>);
  expect_op<F, F>(opcode + ".ftz.f32", flushed<f>);
}

long double one_over(long double x) {
  return 1 / x;
}
long double one_over_root(long double x) {
  return 1 / std::sqrt(x);
}

TEST(PtxApproximations, are_rounded_correctly) {
  expect_rounded<std::exp2>("ex2.approx");
  expect_rounded<std::log2>("lg2.approx");
  expect_rounded<one_over>("rcp.approx");
  expect_rounded<one_over_root>("rsqrt.approx");
  expect_rounded<std::sqrt>("sqrt.approx");
  expect_rounded<std::sin>("sin.approx");
  expect_rounded<std::cos>("cos.approx");
  expect_op<F, F>("tanh.approx.f32", rounded<std::tanh>);
}

TEST(PtxApproximations, of_quotients) {
  expect_op<F, F, F>("div.full.f32", [](F a, F b) { return canonical(a / b); });
  expect_op<F, F, F>("div.full.ftz.f32", [](F a, F b) {
    return canonical(without_subnormal(without_subnormal(a) / without_subnormal(b)));
  });
  // PTX ISA: divisors between 2^126 and 2^128 give 0, or NaN for an infinite dividend.
  expect_op<F, F, F>("div.approx.f32", [](F a, F b) {
    bool const is_huge = std::fabs(b) > 0x1p126f && std::isfinite(b);
    if (is_huge && (std::isinf(a) || a != a)) return canonical(NAN);
    if (is_huge) return std::signbit(a) == std::signbit(b) ? 0.0f : -0.0f;
    return canonical(a / b);
  });
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_approximations_test
