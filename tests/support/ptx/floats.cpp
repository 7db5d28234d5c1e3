// Implements arithmetic of f32 and f64. mul and add without a rounding are not contracted to fma.
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

// Returns the number if the other operand is NaN. Of two zeros, the one with the sign is smaller.
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

void add_rounded(Table& table, FloatForm form, bool has_default, bool may_saturate) {
  form.may_saturate = may_saturate;
  if (has_default) add_forms(table, form);
  auto const head = form.head;
  for (auto const& [rounding, suffix, integer] : kRoundings) {
    form.head = head + std::string(suffix);
    form.rounding = rounding;
    add_forms(table, form);
  }
}

template <class T>
void add_type(Table& table, std::string const& type) {
  add_rounded(table, form_of<add<T>>("add", type), true, true);
  add_rounded(table, form_of<subtract<T>>("sub", type), true, true);
  add_rounded(table, form_of<multiply<T>>("mul", type), true, true);
  add_rounded(table, form_of<multiply_add<T>>("fma", type), false, true);
  add_rounded(table, form_of<multiply_add<T>>("mad", type), false, true);
  add_rounded(table, form_of<divide<T>>("div", type), false, false);
  add_rounded(table, form_of<reciprocal<T>>("rcp", type), false, false);
  add_rounded(table, form_of<root<T>>("sqrt", type), false, false);
  add_forms(table, form_of<smaller<T>>("min", type));
  add_forms(table, form_of<larger<T>>("max", type));
  add_forms(table, {"neg", type, operands_of(negate<T>), signs<negate<T>>});
  add_forms(table, {"abs", type, operands_of(magnitude<T>), signs<magnitude<T>>});
  add_function<with_sign_of<T>>(table, "copysign" + type);
}

}  // namespace

void add_forms(Table& table, FloatForm const& form) {
  bool const is_single = form.type == ".f32";
  for (bool const flushes : {false, true})
    for (bool const saturates : {false, true}) {
      if ((flushes && !is_single) || (saturates && !(is_single && form.may_saturate))) continue;
      auto const opcode =
          form.head + (flushes ? ".ftz" : "") + (saturates ? ".sat" : "") + form.type;
      auto& o = table.add(opcode, form.operands, form.execute);
      o.flushes = flushes;
      o.saturates = saturates;
      o.mode = static_cast<std::uint8_t>(form.rounding);
    }
}

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
