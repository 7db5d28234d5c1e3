// Applies functions of floats to the lanes of registers, with the modifiers that an instruction
// has: rounding, .ftz and .sat.
#pragma once

#include <optional>

#include "tests/support/ptx/float_values.hpp"
#include "tests/support/ptx/lanes.hpp"
#include "tests/support/ptx/rounding.hpp"

namespace spillway::test::ptx {

template <class T>
void flush(T (&values)[kLanes]) {
  for (auto& value : values) value = flushed(value);
}
template <class T>
void saturate(T (&values)[kLanes]) {  // makes NaN 0
  for (auto& value : values) value = value > 0 ? (value < 1 ? value : T{1}) : T{0};
}
template <class T>
void make_canonical(T (&values)[kLanes]) {
  for (auto& value : values) value = canonical(value);
}

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
// Opcodes that only change signs use this, because they keep a NaN's other bits.
template <auto f>
void signs(Warp& warp, Operation const& o, Lanes mask) {
  arithmetic_of<f>(warp, o, mask, f, false);
}

// A FloatForm is an opcode of f32 or f64. For f32, add_forms() adds it with .ftz, too, and with
// .sat if it may saturate; f64 has neither.
struct FloatForm {
  std::string head, type, operands;
  Execute execute;
  Rounding rounding = Rounding::nearest;
  bool may_saturate = false;
};
void add_forms(Table& table, FloatForm const& form);

template <auto f>
FloatForm form_of(std::string const& head, std::string const& type) {
  return {head, type, operands_of(f), arithmetic<f>};
}

}  // namespace spillway::test::ptx
