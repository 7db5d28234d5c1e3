// Converts whole numbers.
#include <algorithm>
#include <bit>
#include <cmath>

#include "tests/support/ptx/conversions.hpp"
#include "tests/support/ptx/float_values.hpp"

namespace spillway::test::ptx {
namespace {

// Returns a double that rounds to fewer bits as the whole number itself would, because it is made
// odd where it is inexact.
double to_odd(std::uint64_t raw, bool is_negative) {
  auto const magnitude = is_negative ? 0 - raw : raw;
  constexpr std::uint64_t exact = std::uint64_t{1} << 53;
  auto const shift = magnitude < exact ? 0 : 11 - std::countl_zero(magnitude);
  auto const cut = magnitude >> shift << shift;
  auto const value =
      std::ldexp(static_cast<double>(magnitude >> shift | (cut != magnitude ? 1 : 0)), shift);
  return is_negative ? -value : value;
}

template <class Float>
std::uint64_t whole_as(std::uint64_t raw, bool has_sign) {
  return bits_of(has_sign ? static_cast<Float>(static_cast<std::int64_t>(raw))
                          : static_cast<Float>(raw));
}

std::uint64_t clamped(std::uint64_t raw, bool from_signed, Type to) {
  auto const bits = 8 * facts(to).bytes;
  bool const is_negative = from_signed && static_cast<std::int64_t>(raw) < 0;
  auto const most = ~std::uint64_t{0} >> (64 - bits + (is_signed(to) ? 1 : 0));
  if (!is_negative) return std::min(raw, most);
  if (!is_signed(to)) return 0;
  auto const least = -static_cast<std::int64_t>(most) - 1;
  return static_cast<std::uint64_t>(std::max(static_cast<std::int64_t>(raw), least));
}

}  // namespace

void whole_to_float(Raw& to, Raw& from, Operation const& o) {
  auto const rounding = rounding_of(o);
  bool const has_sign = is_signed(o.type);
  RoundingScope const scope(o.to_type == Type::f32 || o.to_type == Type::f64 ? rounding
                                                                             : Rounding::nearest);
  kept_in_memory(from);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto const raw = from[lane];
    bool const is_negative = has_sign && static_cast<std::int64_t>(raw) < 0;
    if (o.to_type == Type::f32)
      to[lane] = whole_as<float>(raw, has_sign);
    else if (o.to_type == Type::f64)
      to[lane] = whole_as<double>(raw, has_sign);
    else
      to[lane] = round_to(to_odd(raw, is_negative), format_of(o.to_type), rounding);
  }
  kept_in_memory(to);
}

void whole_to_whole(Raw& to, Raw& from, Operation const& o) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = o.saturates ? clamped(from[lane], is_signed(o.type), o.to_type) : from[lane];
}

}  // namespace spillway::test::ptx
