// Products and sums of what a user may give: bounds of single keys do not bound them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

namespace spillway {

// No machine has so many bytes for a rank: 8 PiB. Hundreds of such still add up to less than 2^63,
// and doubles count them one by one.
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 53;

// Of numbers that are not negative; empty where 63 bits do not hold it.
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

// The most that 63 bits hold, where they do not hold the result.
constexpr std::int64_t clamped_product(std::int64_t a, std::int64_t b) {
  return product({a, b}).value_or(std::numeric_limits<std::int64_t>::max());
}
constexpr std::int64_t clamped_sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

// The whole part of a number that is not negative, or as above.
constexpr std::int64_t clamped_whole(double number) {
  return number < 0x1p63 ? static_cast<std::int64_t>(number)
                         : std::numeric_limits<std::int64_t>::max();
}

}  // namespace spillway
