#include "tests/support/ptx/rounding.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>

namespace spillway::test::ptx {
namespace {

int mode_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return FE_TOWARDZERO;
    case Rounding::down:
      return FE_DOWNWARD;
    case Rounding::up:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

// Rounds a magnitude to a whole number.
std::uint64_t rounded(double magnitude, bool is_negative, Rounding rounding) {
  auto const whole = std::floor(magnitude);
  auto const rest = magnitude - whole;
  auto const result = static_cast<std::uint64_t>(whole);
  switch (rounding) {
    case Rounding::zero:
      return result;
    case Rounding::down:
      return result + (is_negative && rest > 0 ? 1 : 0);
    case Rounding::up:
      return result + (!is_negative && rest > 0 ? 1 : 0);
    case Rounding::nearest_away:
      return result + (rest >= 0.5 ? 1 : 0);
    default:
      return result + (rest > 0.5 || (rest == 0.5 && result % 2 == 1) ? 1 : 0);
  }
}

bool goes_to_infinity(bool is_negative, Rounding rounding) {
  if (rounding == Rounding::zero) return false;
  if (rounding == Rounding::down) return is_negative;
  return rounding != Rounding::up || !is_negative;
}

// Returns the exponent of two of the smallest subnormal number.
int least_unit(FloatFormat format) {
  return 2 - (1 << (format.exponent_bits - 1)) - format.fraction_bits;
}

}  // namespace

RoundingScope::RoundingScope(Rounding rounding) : m_before(std::fegetround()) {
  std::fesetround(mode_of(rounding));
}
RoundingScope::~RoundingScope() {
  std::fesetround(m_before);
}

std::uint32_t round_to(double x, FloatFormat format, Rounding rounding) {
  auto const fraction = format.fraction_bits;
  auto const infinity = ((1u << format.exponent_bits) - 1) << fraction;
  auto const sign_bit = 1u << (format.exponent_bits + fraction);
  if (std::isnan(x)) return sign_bit - 1;
  bool const is_negative = std::signbit(x);
  auto const sign = is_negative ? sign_bit : 0;
  auto const magnitude = std::fabs(x);
  if (std::isinf(x)) return sign | infinity;
  if (magnitude == 0) return sign;
  auto const unit = std::max(std::ilogb(magnitude) - fraction, least_unit(format));
  auto const whole = rounded(std::ldexp(magnitude, -unit), is_negative, rounding);
  // `whole` still has its leading bit. Adding it counts the exponent up by one, as it must.
  auto const bits = (static_cast<std::uint64_t>(unit - least_unit(format)) << fraction) + whole;
  if (bits < infinity) return sign | static_cast<std::uint32_t>(bits);
  return sign | (goes_to_infinity(is_negative, rounding) ? infinity : infinity - 1);
}

double value_of(std::uint32_t bits, FloatFormat format) {
  auto const fraction = format.fraction_bits;
  bool const is_negative = (bits >> (format.exponent_bits + fraction) & 1) != 0;
  auto const exponent = static_cast<int>(bits >> fraction & ((1u << format.exponent_bits) - 1));
  auto const rest = bits & ((1u << fraction) - 1);
  double result = 0;
  if (exponent == (1 << format.exponent_bits) - 1)
    result = rest == 0 ? INFINITY : NAN;
  else if (exponent == 0)
    result = std::ldexp(rest, least_unit(format));
  else
    result = std::ldexp(rest + (1u << fraction), exponent - 1 + least_unit(format));
  return is_negative ? -result : result;
}

double round_to_whole(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return std::trunc(x);
    case Rounding::down:
      return std::floor(x);
    case Rounding::up:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

double multiply_add_to_odd(double a, double b, double c) {
  auto const product = a * b;  // is exact for such factors
  auto const sum = product + c;
  if (!std::isfinite(sum)) return sum;
  // Knuth's two-sum gives exactly what the sum has lost by rounding.
  auto const part = sum - product;
  auto const lost = (product - (sum - part)) + (c - part);
  auto const bits = std::bit_cast<std::uint64_t>(sum);
  if (lost == 0 || (bits & 1) != 0) return sum;
  bool const grows = (lost > 0) == (sum > 0);
  return std::bit_cast<double>(grows ? bits + 1 : bits - 1);
}

}  // namespace spillway::test::ptx
