// Tests arithmetic of f32 and f64 in all roundings, and its modifiers.
#include <cfenv>
#include <cmath>

#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_floats_test {
namespace {

// Computes in another rounding. volatile keeps the compiler from computing it outside of that.
template <int mode, class T>
T rounded(T (*f)(T, T, T), T a, T b, T c) {
  T volatile va = a, vb = b, vc = c;
  std::fesetround(mode);
  T volatile result = f(va, vb, vc);
  std::fesetround(FE_TONEAREST);
  if constexpr (sizeof(T) == 4) return canonical(result);
  return result;
}

template <int mode, class T>
void expect_rounded(std::string const& suffix) {
  expect_op<T, T, T>("add" + suffix, [](T a, T b) {
    return rounded<mode, T>([](T x, T y, T) { return x + y; }, a, b, 0);
  });
  expect_op<T, T, T>("sub" + suffix, [](T a, T b) {
    return rounded<mode, T>([](T x, T y, T) { return x - y; }, a, b, 0);
  });
  expect_op<T, T, T>("mul" + suffix, [](T a, T b) {
    return rounded<mode, T>([](T x, T y, T) { return x * y; }, a, b, 0);
  });
  expect_op<T, T, T>("div" + suffix, [](T a, T b) {
    return rounded<mode, T>([](T x, T y, T) { return x / y; }, a, b, 0);
  });
  expect_op<T, T>("rcp" + suffix,
                  [](T a) { return rounded<mode, T>([](T x, T, T) { return 1 / x; }, a, 0, 0); });
  expect_op<T, T>("sqrt" + suffix, [](T a) {
    return rounded<mode, T>([](T x, T, T) { return std::sqrt(x); }, a, 0, 0);
  });
  expect_op<T, T, T, T>("fma" + suffix, [](T a, T b, T c) {
    return rounded<mode, T>([](T x, T y, T z) { return std::fma(x, y, z); }, a, b, c);
  });
}

TEST(PtxFloats, round_as_they_are_told) {
  expect_rounded<FE_TONEAREST, float>(".rn.f32");
  expect_rounded<FE_TOWARDZERO, float>(".rz.f32");
  expect_rounded<FE_DOWNWARD, float>(".rm.f32");
  expect_rounded<FE_UPWARD, float>(".rp.f32");
  expect_rounded<FE_TONEAREST, double>(".rn.f64");
  expect_rounded<FE_TOWARDZERO, double>(".rz.f64");
  expect_rounded<FE_DOWNWARD, double>(".rm.f64");
  expect_rounded<FE_UPWARD, double>(".rp.f64");
}

float flushed(float x) {
  return canonical(without_subnormal(x));
}

TEST(PtxFloats, flush) {
  using F = float;
  static auto const z = without_subnormal;
  expect_op<F, F, F>("add.ftz.f32", [](F a, F b) { return flushed(z(a) + z(b)); });
  expect_op<F, F, F>("sub.rn.ftz.f32", [](F a, F b) { return flushed(z(a) - z(b)); });
  expect_op<F, F, F>("mul.rn.ftz.f32", [](F a, F b) { return flushed(z(a) * z(b)); });
  expect_op<F, F, F, F>("fma.rn.ftz.f32",
                        [](F a, F b, F c) { return flushed(std::fma(z(a), z(b), z(c))); });
  expect_op<F, F, F, F>("mad.rn.ftz.f32",
                        [](F a, F b, F c) { return flushed(std::fma(z(a), z(b), z(c))); });
  expect_op<F, F, F>("div.rn.ftz.f32", [](F a, F b) { return flushed(z(a) / z(b)); });
  expect_op<F, F>("rcp.rn.ftz.f32", [](F a) { return flushed(1 / z(a)); });
  expect_op<F, F>("sqrt.rn.ftz.f32", [](F a) { return flushed(std::sqrt(z(a))); });
  expect_op<F, F>("neg.ftz.f32", [](F a) { return -z(a); });
  expect_op<F, F>("abs.ftz.f32", [](F a) { return std::fabs(z(a)); });
  expect_op<F, F>("cvt.ftz.f32.f32", [](F a) { return flushed(a); });
}

TEST(PtxFloats, saturate) {
  using F = float;
  expect_op<F, F, F>("add.sat.f32", [](F a, F b) {
    auto const sum = a + b;
    return sum > 0 ? std::min(sum, 1.0f) : 0.0f;
  });
  expect_op<F, F, F, F>("fma.rn.ftz.sat.f32", [](F a, F b, F c) {
    static auto const z = without_subnormal;
    auto const sum = z(std::fma(z(a), z(b), z(c)));
    return sum > 0 ? std::min(sum, 1.0f) : 0.0f;
  });
}

template <class T>
void expect_order_and_signs(std::string const& type) {
  expect_op<T, T, T>("min." + type, [](T a, T b) {
    if (a != a && b != b) return static_cast<T>(canonical(NAN));
    if (a == b) return std::signbit(a) ? a : b;
    return std::fmin(a, b);
  });
  expect_op<T, T, T>("max." + type, [](T a, T b) {
    if (a != a && b != b) return static_cast<T>(canonical(NAN));
    if (a == b) return std::signbit(a) ? b : a;
    return std::fmax(a, b);
  });
  expect_op<T, T>("neg." + type, [](T a) { return -a; });
  expect_op<T, T>("abs." + type, [](T a) { return std::fabs(a); });
  expect_op<T, T, T>("copysign." + type, [](T a, T b) { return std::copysign(b, a); });
}

TEST(PtxFloats, order_and_signs) {
  expect_order_and_signs<float>("f32");
  expect_order_and_signs<double>("f64");
  expect_op<float, float, float>("max.NaN.f32", [](float a, float b) {
    if (a != a || b != b) return canonical(NAN);
    return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
  });
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_floats_test
