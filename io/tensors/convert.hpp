// Converts elements of files to floats and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/tensors/element_type.hpp"

namespace spillway {

// Returns whether elements of this type can be converted. These are f16, bf16 and f32.
bool is_float(ElementType type);

// Converts elements to floats exactly. `from` may have any alignment. Throws std::logic_error if
// `from` has another number of elements than `to`, or if `is_float(type)` is false.
void to_floats(ElementType type, std::span<std::byte const> from, std::span<float> to);

// Rounds floats to nearest, ties to even; what is too large for the type becomes infinite. Throws
// std::logic_error if `to` has another number of elements than `from`, or if `is_float(type)` is
// false.
void from_floats(ElementType type, std::span<float const> from, std::span<std::byte> to);

// ValueCounts count values that are not finite, and values that rounding to a type would change
// into infinity or zero.
struct ValueCounts {
  std::int64_t not_finite = 0;       // infinities and NaNs
  std::int64_t become_infinite = 0;  // finite values that would become infinite
  std::int64_t become_zero = 0;      // nonzero values that would become zero

  ValueCounts& operator+=(ValueCounts const& other);
  bool operator==(ValueCounts const&) const = default;
};
// Counts the values that are not finite, and those that rounding to `rounded_to` would change into
// infinity or zero. Throws std::logic_error if `is_float(rounded_to)` is false.
ValueCounts count_values(std::span<float const> values, ElementType rounded_to);

}  // namespace spillway
