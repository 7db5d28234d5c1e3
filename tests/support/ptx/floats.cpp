// Arithmetic of f32 and f64.
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "tests/support/ptx/lanes.hpp"
#include "tests/support/ptx/rounding.hpp"

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

template <class T>
void flush(T (&values)[kLanes]) {
  constexpr T least = std::numeric_limits<T>::min();
  for (auto& value : values) value = std::fabs(value) < least ? std::copysign(T{0}, value) : value;
}
template <class T>
void saturate(T (&values)[kLanes]) {  // NaN becomes 0
  for (auto& value : values) value = value > 0 ? (value < 1 ? value : T{1}) : T{0};
}
// All results that are NaN have the same bits.
void make_canonical(float (&values)[kLanes]) {
  auto const canonical = std::bit_cast<float>(0x7fffffffu);
  for (auto& value : values) value = value == value ? value : canonical;
}
void make_canonical(double (&/*values*/)[kLanes]) {}

template <auto f, class T, class... From, std::size_t... n>
void compute(T (&values)[kLanes], Warp const& warp, Operation const& o, T (* /*f*/)(From...),
             std::index_sequence<n...> /*counts*/) {
  alignas(64) T from[sizeof...(n)][kLanes];
  (std::memcpy(from[n], warp.lanes<T const>(o.from[n]), sizeof values), ...);
  if (o.flushes) (flush(from[n]), ...);
  std::optional<RoundingScope> scope;
  auto const rounding = static_cast<Rounding>(o.mode);
  if (rounding != Rounding::nearest) scope.emplace(rounding);
  kept_in_memory(from);
  for (unsigned lane = 0; lane < kLanes; ++lane) values[lane] = f(from[n][lane]...);
  kept_in_memory(values);
}

template <auto f, class T, class... From>
void arithmetic_of(Warp& warp, Operation const& o, Lanes mask, T (*function)(From...),
                   bool is_canonical) {
  alignas(64) T values[kLanes];
  compute<f>(values, warp, o, function, std::index_sequence_for<From...>());
  if (o.flushes) flush(values);
  if (o.saturates) saturate(values);
  if (is_canonical) make_canonical(values);
  write_lanes(warp, o.to, values, mask);
}
template <auto f>
void arithmetic(Warp& warp, Operation const& o, Lanes mask) {
  arithmetic_of<f>(warp, o, mask, f, true);
}
// Changes of the sign keep a NaN's other bits.
template <auto f>
void signs(Warp& warp, Operation const& o, Lanes mask) {
  arithmetic_of<f>(warp, o, mask, f, false);
}

// f64 has neither .ftz nor .sat.
template <auto f>
void add_forms(Table& table, std::string const& head, std::string const& type, Execute execute,
               Rounding rounding, bool may_saturate) {
  bool const is_single = type == ".f32";
  for (bool const flushes : {false, true})
    for (bool const saturates : {false, true}) {
      if ((flushes && !is_single) || (saturates && !(is_single && may_saturate))) continue;
      auto const opcode = head + (flushes ? ".ftz" : "") + (saturates ? ".sat" : "") + type;
      auto& o = table.add(opcode, operands_of(f), execute);
      o.flushes = flushes;
      o.saturates = saturates;
      o.mode = static_cast<std::uint8_t>(rounding);
    }
}
template <auto f>
void add_rounded(Table& table, std::string const& name, std::string const& type, bool has_default,
                 bool may_saturate) {
  for (auto const& [rounding, suffix, integer] : kRoundings)
    add_forms<f>(table, name + std::string(suffix), type, arithmetic<f>, rounding, may_saturate);
  if (has_default) add_forms<f>(table, name, type, arithmetic<f>, Rounding::nearest, may_saturate);
}
template <auto f>
void add_plain(Table& table, std::string const& name, std::string const& type, Execute execute) {
  add_forms<f>(table, name, type, execute, Rounding::nearest, false);
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
