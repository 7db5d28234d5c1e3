// Computes products and sums without overflow. Users choose the factors, and although each single
// factor is bounded, their product may exceed 63 bits.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

namespace spillway {

// No tensor or workspace may have more bytes than 8 PiB. Hundreds of such sizes still add up to
// less than 2^63, and a double holds every whole number up to 2^53 exactly.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 53;

// Returns the product of factors that are not negative, or nothing if it exceeds 63 bits.
constexpr std::optional<std::int64_t> product(std::initializer_list<std::int64_t> factors) {
  std::int64_t result = 1;
  bool overflows = false, is_zero = false;
  for (std::int64_t const factor : factors) {
    overflows = __builtin_mul_overflow(result, factor, &result) || overflows;
    is_zero = is_zero || factor == 0;
  }
  if (is_zero) return 0;
  return overflows ? std::nullopt : std::optional(result);
}

// clamped_product and clamped_sum return the largest 63-bit number if the exact result is larger.
constexpr std::int64_t clamped_product(std::int64_t a, std::int64_t b) {
  return product({a, b}).value_or(std::numeric_limits<std::int64_t>::max());
}
constexpr std::int64_t clamped_sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

// Returns the whole part of a number that is not negative, or the largest 63-bit number if the
// whole part is larger.
constexpr std::int64_t clamped_whole(double number) {
  return number < 0x1p63 ? static_cast<std::int64_t>(number)
                         : std::numeric_limits<std::int64_t>::max();
}

}  // namespace spillway
