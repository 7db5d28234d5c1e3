// IEEE half precision has 5 bits of exponent and 10 of fraction. Files store values in it, but
// nothing computes in it.
#pragma once

#include <bit>
#include <cstdint>

#include "base/bf16.hpp"
#include "base/function.hpp"

namespace spillway {

struct f16 {
  std::uint16_t bits;
};

// Converts exactly; a NaN keeps its payload.
SPILLWAY_FUNCTION float to_float(f16 x) {
  std::uint32_t const sign = (x.bits & 0x8000u) << 16, rest = x.bits & 0x7fffu;
  constexpr float subnormal_unit = 0x1p-24f;
  auto const subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(rest) * subnormal_unit);
  // The exponent's bias is 112 larger in fp32. Adding 112 twice makes the largest exponent of f16,
  // that of infinities and NaNs, the largest one of fp32.
  std::uint32_t const bias = rest < 0x7c00u ? 112u << 23 : 224u << 23;
  std::uint32_t const magnitude = rest < 0x400u ? subnormal : (rest << 13) + bias;
  return std::bit_cast<float>(sign | magnitude);
}

// Rounds to nearest, ties to even, and to infinity from 65520 on. A NaN stays a NaN and becomes
// quiet.
SPILLWAY_FUNCTION f16 to_f16(float x) {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  std::uint32_t const normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
  // The last bit of a float in [0.5, 1) is worth 2^-24, the smallest positive f16, so that the
  // addition rounds to a multiple of 2^-24.
  std::uint32_t const subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  std::uint32_t const quiet = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  std::uint32_t const huge = magnitude > 0x7f800000u ? quiet : 0x7c00u;
  std::uint32_t const finite = magnitude < 0x38800000u ? subnormal : normal;
  return f16{static_cast<std::uint16_t>(sign | (magnitude < 0x47800000u ? finite : huge))};
}

template <>
SPILLWAY_FUNCTION f16 store<f16>(float x) {
  return to_f16(x);
}

}  // namespace spillway
