// Arithmetic of f32 and f64.
#include <cmath>

#include "tests/support/ptx/float_lanes.hpp"

namespace spillway::test::ptx {
namespace {

template <class T>
T add(T a, T b) {
  return a + b;
}
template <class T>
T subtract(T a, T b) {
  return a - b;
}
template <class T>
T multiply(T a, T b) {
  return a * b;
}
template <class T>
T divide(T a, T b) {
  return a / b;
}
template <class T>
T multiply_add(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <class T>
T reciprocal(T a) {
  return T{1} / a;
}
template <class T>
T root(T a) {
  return std::sqrt(a);
}
template <class T>
T negate(T a) {
  return -a;
}
template <class T>
T magnitude(T a) {
  return std::fabs(a);
}
template <class T>
T with_sign_of(T sign, T a) {
  return std::copysign(a, sign);
}

// Of a number and a NaN, the number; of two zeros, the smaller has the sign.
template <class T>
T smaller(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T larger(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}
template <class T>
T smaller_or_nan(T a, T b) {
  return a != a ? a : b != b ? b : smaller(a, b);
}
template <class T>
T larger_or_nan(T a, T b) {
  return a != a ? a : b != b ? b : larger(a, b);
}

template <auto f>
void add_rounded(Table& table, std::string const& name, std::string const& type, bool has_default,
                 bool may_saturate) {
  for (auto const& [rounding, suffix, integer] : kRoundings)
    add_forms<f>(table, name + std::string(suffix), type, arithmetic<f>, rounding, may_saturate);
  if (has_default) add_forms<f>(table, name, type, arithmetic<f>, Rounding::nearest, may_saturate);
}
template <class T>
void add_type(Table& table, std::string const& type) {
  add_rounded<add<T>>(table, "add", type, true, true);
  add_rounded<subtract<T>>(table, "sub", type, true, true);
  add_rounded<multiply<T>>(table, "mul", type, true, true);
  add_rounded<multiply_add<T>>(table, "fma", type, false, true);
  add_rounded<multiply_add<T>>(table, "mad", type, false, true);
  add_rounded<divide<T>>(table, "div", type, false, false);
  add_rounded<reciprocal<T>>(table, "rcp", type, false, false);
  add_rounded<root<T>>(table, "sqrt", type, false, false);
  add_plain<smaller<T>>(table, "min", type, arithmetic<smaller<T>>);
  add_plain<larger<T>>(table, "max", type, arithmetic<larger<T>>);
  add_plain<negate<T>>(table, "neg", type, signs<negate<T>>);
  add_plain<magnitude<T>>(table, "abs", type, signs<magnitude<T>>);
  add_function<with_sign_of<T>>(table, "copysign" + type);
}

}  // namespace

void add_floats(Table& table) {
  add_type<float>(table, ".f32");
  add_type<double>(table, ".f64");
  for (auto const* const flush : {"", ".ftz"}) {
    auto const suffix = std::string(flush) + ".NaN.f32";
    auto& least = table.add("min" + suffix, "4=44", arithmetic<smaller_or_nan<float>>);
    auto& most = table.add("max" + suffix, "4=44", arithmetic<larger_or_nan<float>>);
    least.flushes = most.flushes = *flush != '\0';
  }
}

}  // namespace spillway::test::ptx
