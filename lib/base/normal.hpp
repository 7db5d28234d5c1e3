// Turns random bits into random numbers with the standard normal distribution. The code has no
// branches and computes in fp32, so that compilers vectorise loops over it, and all processors with
// a fused multiply-add give the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/function.hpp"

namespace spillway {

// Returns ln x with an error of at most 2 ulp; x must be positive, finite and not subnormal. With x
// = m 2^e and sqrt(1/2) <= m < sqrt(2), a polynomial of the Cephes library gives ln m.
SPILLWAY_FUNCTION float fast_log(float x) {
  constexpr std::int32_t root_half = 0x3f3504f3;
  auto const above = std::bit_cast<std::int32_t>(x) - root_half;
  auto const e = static_cast<float>(above >> 23);
  float const r = std::bit_cast<float>((above & 0x7fffff) + root_half) - 1.0f;

  float p = 7.0376836292e-2f;
  p = std::fma(p, r, -1.1514610310e-1f);
  p = std::fma(p, r, 1.1676998740e-1f);
  p = std::fma(p, r, -1.2420140846e-1f);
  p = std::fma(p, r, 1.4249322787e-1f);
  p = std::fma(p, r, -1.6668057665e-1f);
  p = std::fma(p, r, 2.0000714765e-1f);
  p = std::fma(p, r, -2.4999993993e-1f);
  p = std::fma(p, r, 3.3333331174e-1f);
  float const square = r * r;
  float const rest = std::fma(e, -2.12194440e-4f, std::fma(square * r, p, -0.5f * square));
  return std::fma(e, 0.693359375f, r + rest);
}

struct Direction {
  float cos, sin;
};

// Returns the cosine and the sine of the angle 2 pi `turn` / 2^32. The nearest axis, and the angle
// from that axis in units of 2 pi / 2^32, are integers and therefore exact.
SPILLWAY_FUNCTION Direction direction(std::uint32_t turn) {
  std::uint32_t const quadrant = (turn + (1u << 29)) >> 30;  // the number of the nearest axis
  auto const left = static_cast<std::int32_t>(turn - (quadrant << 30));
  float const a = static_cast<float>(left) * 1.46291807927e-9f;  // the factor is 2 pi / 2^32
  float const square = a * a;

  float s = std::fma(-1.9515295891e-4f, square, 8.3321608736e-3f);
  s = std::fma(std::fma(s, square, -1.6666654611e-1f) * square, a, a);
  float c = std::fma(2.4433157118e-5f, square, -1.3887316255e-3f);
  c = std::fma(std::fma(c, square, 4.1666645683e-2f) * square, square, std::fma(-0.5f, square, 1));

  bool const swap = (quadrant & 1) != 0;
  auto const negated = [](float x, std::uint32_t bit) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ (bit << 31));
  };
  return {negated(swap ? s : c, ((quadrant + 1) >> 1) & 1),
          negated(swap ? c : s, (quadrant >> 1) & 1)};
}

// Turns 64 independent random bits into two independent numbers with the standard normal
// distribution, by the method of Box and Muller. The numbers' magnitudes are at most 6.77.
SPILLWAY_FUNCTION Direction normal_pair(std::uint32_t length, std::uint32_t turn) {
  float const u = std::fma(static_cast<float>(length), 0x1p-32f, 0x1p-33f);  // u is in (0, 1]
  float const radius = std::sqrt(-2.0f * fast_log(u));
  auto const unit = direction(turn);
  return {radius * unit.cos, radius * unit.sin};
}

}  // namespace spillway
