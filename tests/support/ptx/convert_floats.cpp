// Converts floats.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bf16.hpp"
#include "base/f16.hpp"
#include "tests/support/ptx/conversions.hpp"
#include "tests/support/ptx/float_values.hpp"

namespace spillway::test::ptx {
namespace {

// Reads a float of any type, each of which a double holds exactly.
double read_float(std::uint64_t raw, Type type) {
  switch (type) {
    case Type::f64:
      return bits_as<double>(raw);
    case Type::f32:
      return bits_as<float>(raw);
    case Type::bf16:
      return to_float(bf16{static_cast<std::uint16_t>(raw)});
    default:
      return to_float(f16{static_cast<std::uint16_t>(raw)});
  }
}

// Rounds to the type. For f32 the processor does so, in the mode that a RoundingScope has set.
std::uint64_t write_float(double value, Type type, Rounding rounding) {
  if (type == Type::f64) return bits_of(value);
  if (type == Type::f32) return bits_of(canonical(static_cast<float>(value)));
  auto const bits = round_to(value, format_of(type), rounding);
  return type == Type::tf32 ? std::uint64_t{bits} << 13 : bits;
}

// Applies an Operation's modifiers to the source of a conversion between floats.
double prepared(double value, Operation const& o) {
  if (o.flushes && o.type == Type::f32) value = flushed(static_cast<float>(value));
  if (o.immediate != 0) value = round_to_whole(value, rounding_of(o));
  if (o.saturates) value = value > 0 ? std::min(value, 1.0) : 0.0;
  return value;
}

// A value that does not fit becomes the nearest one that does. NaN becomes, as NVIDIA documents it,
// the highest bit where either type has 64 bits, else zero.
std::uint64_t whole_number(double value, Type from, Type to) {
  auto const bits = 8 * facts(to).bytes;
  auto const highest = std::uint64_t{1} << (bits - 1);
  if (value != value) return from == Type::f64 || bits == 64 ? highest : 0;
  auto const limit = std::ldexp(1.0, static_cast<int>(bits) - (is_signed(to) ? 1 : 0));
  if (is_signed(to)) {
    if (value >= limit) return highest - 1;
    if (value < -limit) return ~highest + 1;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  if (value >= limit) return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return value <= 0 ? 0 : static_cast<std::uint64_t>(value);
}

}  // namespace

void float_to_float(Raw& to, Raw& from, Operation const& o) {
  // A value that prepared() has made whole needs no other rounding.
  auto const rounding = o.immediate != 0 ? Rounding::nearest : rounding_of(o);
  bool const cuts_negative = (o.mode & kCutsNegative) != 0;
  RoundingScope const scope(rounding);
  kept_in_memory(from);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto value = prepared(read_float(from[lane], o.type), o);
    if (cuts_negative && value < 0) value = 0;
    to[lane] = write_float(value, o.to_type, rounding);
    if (o.flushes && o.to_type == Type::f32) to[lane] = bits_of(flushed(bits_as<float>(to[lane])));
  }
  kept_in_memory(to);
}

void float_to_whole(Raw& to, Raw& from, Operation const& o) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto value = read_float(from[lane], o.type);
    if (o.flushes) value = flushed(static_cast<float>(value));
    to[lane] = whole_number(round_to_whole(value, rounding_of(o)), o.type, o.to_type);
  }
}

}  // namespace spillway::test::ptx
