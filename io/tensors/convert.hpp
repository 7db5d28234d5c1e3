// Elements of files as floats, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/tensors/element_type.hpp"

namespace spillway {

// Whether elements of this type can be converted: f16, bf16 and f32.
bool is_float(ElementType type);

// Exact. `from` has as many elements as `to`, in any alignment. Throws std::logic_error for a type
// that is no float.
void to_floats(ElementType type, std::span<std::byte const> from, std::span<float> to);

// Rounds to nearest, ties to even; what the type cannot hold becomes infinite. Throws as above.
void from_floats(ElementType type, std::span<float const> from, std::span<std::byte> to);

// What values are, and what rounding to a type makes of them.
struct ValueCounts {
  std::int64_t not_finite = 0;       // infinities and NaNs
  std::int64_t become_infinite = 0;  // of the finite ones
  std::int64_t become_zero = 0;      // of those that are not zero

  ValueCounts& operator+=(ValueCounts const& other);
  bool operator==(ValueCounts const&) const = default;
};
// Throws std::logic_error for a type that is no float.
ValueCounts count_values(std::span<float const> values, ElementType rounded_to);

}  // namespace spillway
