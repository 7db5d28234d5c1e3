// Defines bf16 (bfloat16), the upper half of an fp32. Values are stored as bf16, and computations
// convert them to fp32 first.
#pragma once

#include <bit>
#include <cstdint>

#include "base/function.hpp"

namespace spillway {

struct bf16 {
  std::uint16_t bits;
};

SPILLWAY_FUNCTION float to_float(bf16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}
SPILLWAY_FUNCTION float to_float(float x) {
  return x;
}

// Rounds to nearest, ties to even. A NaN stays a NaN and becomes quiet.
SPILLWAY_FUNCTION bf16 to_bf16(float x) {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  std::uint32_t const quiet = (bits >> 16) | 0x40u;
  return bf16{static_cast<std::uint16_t>(x == x ? rounded : quiet)};
}

// Rounds stochastically to one of the two neighbours of x. The nearer neighbour is more likely, and
// the mean over all `draw` < 2^16 is x, so that many updates smaller than the resolution of bf16
// add up correctly on average. If the magnitude of x is at least that of the largest finite bf16, x
// is rounded to nearest instead. Zeros and infinities stay what they are, and NaNs stay NaNs.
SPILLWAY_FUNCTION bf16 to_bf16_by_draw(float x, std::uint32_t draw) {
  constexpr std::uint32_t largest = 0x7f7f0000u;
  auto const bits = std::bit_cast<std::uint32_t>(x);
  auto const half = 0x7fffu + ((bits >> 16) & 1u);
  std::uint32_t const rounded = (bits + ((bits & 0x7fffffffu) < largest ? draw : half)) >> 16;
  std::uint32_t const quiet = (bits >> 16) | 0x40u;
  return bf16{static_cast<std::uint16_t>(x == x ? rounded : quiet)};
}

// Converts fp32 to T and rounds to nearest. For T = float, returns x itself.
template <class T>
SPILLWAY_FUNCTION T store(float x);
template <>
SPILLWAY_FUNCTION float store<float>(float x) {
  return x;
}
template <>
SPILLWAY_FUNCTION bf16 store<bf16>(float x) {
  return to_bf16(x);
}

// A master weight is a bf16 parameter and a signed 16-bit remainder: 4 bytes that hold the fp32
// value exactly. The parameter is the master rounded to nearest, ties away from zero.
struct SplitFloat {
  bf16 parameter;
  std::int16_t remainder;
};

SPILLWAY_FUNCTION SplitFloat split_master(float master) {
  auto const bits = std::bit_cast<std::uint32_t>(master);
  auto const upper = static_cast<std::uint16_t>((bits + 0x8000u) >> 16);
  auto const rest = bits - (static_cast<std::uint32_t>(upper) << 16);
  return {bf16{upper}, static_cast<std::int16_t>(static_cast<std::uint16_t>(rest))};
}

SPILLWAY_FUNCTION float join_master(bf16 parameter, std::int16_t remainder) {
  auto const upper = static_cast<std::uint32_t>(parameter.bits) << 16;
  return std::bit_cast<float>(upper +
                              static_cast<std::uint32_t>(static_cast<std::int32_t>(remainder)));
}

}  // namespace spillway
