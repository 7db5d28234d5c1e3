// Implements arithmetic of f16 and bf16, with one or two numbers in a register. Results are exact
// and then rounded once.
#include <algorithm>
#include <cmath>

#include "tests/support/ptx/lanes.hpp"
#include "tests/support/ptx/rounding.hpp"

namespace spillway::test::ptx {
namespace {

enum class Half : std::uint8_t {
  add,
  sub,
  mul,
  fma,
  fma_relu,
  neg,
  abs,
  min,
  max,
  min_nan,
  max_nan
};

struct HalfForm {
  Half function;
  std::string_view name;
  unsigned operands;
};
constexpr HalfForm kHalfForms[] = {
    {Half::add, "add", 2},         {Half::add, "add.rn", 2},
    {Half::sub, "sub", 2},         {Half::sub, "sub.rn", 2},
    {Half::mul, "mul", 2},         {Half::mul, "mul.rn", 2},
    {Half::fma, "fma.rn", 3},      {Half::fma_relu, "fma.rn.relu", 3},
    {Half::neg, "neg", 1},         {Half::abs, "abs", 1},
    {Half::min, "min", 2},         {Half::max, "max", 2},
    {Half::min_nan, "min.NaN", 2}, {Half::max_nan, "max.NaN", 2}};

double least(double a, double b) {
  if (a == b) return std::signbit(a) ? a : b;
  return std::fmin(a, b);
}

double compute(Half function, double a, double b, double c) {
  bool const is_nan = a != a || b != b;
  switch (function) {
    case Half::add:
      return multiply_add_to_odd(a, 1, b);
    case Half::sub:
      return multiply_add_to_odd(a, 1, -b);
    case Half::mul:
      return a * b;
    case Half::fma:
      return multiply_add_to_odd(a, b, c);
    case Half::fma_relu:  // std::max keeps a NaN, since a NaN is not less than 0
      return std::max(multiply_add_to_odd(a, b, c), 0.0);
    case Half::min:
      return least(a, b);
    case Half::max:
      return -least(-a, -b);
    case Half::min_nan:
      return is_nan ? NAN : least(a, b);
    case Half::max_nan:
      return is_nan ? NAN : -least(-a, -b);
    default:
      return a;
  }
}

template <FloatFormat const& format>
std::uint32_t half(Operation const& o, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  auto const function = static_cast<Half>(o.mode);
  if (function == Half::neg) return a ^ 0x8000;
  if (function == Half::abs) return a & 0x7fff;
  auto const result =
      compute(function, value_of(a, format), value_of(b, format), value_of(c, format));
  if (o.saturates)
    return round_to(result > 0 ? std::min(result, 1.0) : 0.0, format, Rounding::nearest);
  return round_to(result, format, Rounding::nearest);
}

template <FloatFormat const& format>
void single(Warp& warp, Operation const& o, Lanes mask) {
  auto const* const a = warp.lanes<std::uint16_t const>(o.from[0]);
  auto const* const b = warp.lanes<std::uint16_t const>(o.from[1]);
  auto const* const c = warp.lanes<std::uint16_t const>(o.from[2]);
  alignas(64) std::uint16_t values[kLanes] = {};
  for_each_lane(mask, [&](unsigned lane) {
    values[lane] = static_cast<std::uint16_t>(half<format>(o, a[lane], b[lane], c[lane]));
  });
  write_lanes(warp, o.to, values, mask);
}

template <FloatFormat const& format>
void pair(Warp& warp, Operation const& o, Lanes mask) {
  auto const* const a = warp.lanes<std::uint32_t const>(o.from[0]);
  auto const* const b = warp.lanes<std::uint32_t const>(o.from[1]);
  auto const* const c = warp.lanes<std::uint32_t const>(o.from[2]);
  alignas(64) std::uint32_t values[kLanes] = {};
  for_each_lane(mask, [&](unsigned lane) {
    auto const low = half<format>(o, a[lane] & 0xffff, b[lane] & 0xffff, c[lane] & 0xffff);
    auto const high = half<format>(o, a[lane] >> 16, b[lane] >> 16, c[lane] >> 16);
    values[lane] = high << 16 | low;
  });
  write_lanes(warp, o.to, values, mask);
}

void add_type(Table& table, std::string const& type, char width, Execute execute) {
  for (auto const& [function, name, operands] : kHalfForms) {
    auto const letters = std::string(1, width) + "=" + std::string(operands, width);
    auto const head = std::string(name);
    table.add(head + type, letters, execute).mode = static_cast<std::uint8_t>(function);
    if (function > Half::fma || type.starts_with(".bf16")) continue;
    auto& saturating = table.add(head + ".sat" + type, letters, execute);
    saturating.mode = static_cast<std::uint8_t>(function);
    saturating.saturates = true;
  }
}

}  // namespace

void add_halves(Table& table) {
  add_type(table, ".f16", '2', single<kF16>);
  add_type(table, ".bf16", '2', single<kBf16>);
  add_type(table, ".f16x2", '4', pair<kF16>);
  add_type(table, ".bf16x2", '4', pair<kBf16>);
}

}  // namespace spillway::test::ptx
