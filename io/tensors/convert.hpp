// Elements of files as floats, and back.
#pragma once

#include <cstddef>
#include <span>

#include "io/tensors/element_type.hpp"

namespace spillway {

// Whether elements of this type can be converted: f16, bf16 and f32.
bool is_float(ElementType type);

// Exact. `from` has as many elements as `to`, in any alignment. Throws std::logic_error for a type
// that is no float.
void to_floats(ElementType type, std::span<std::byte const> from, std::span<float> to);

// Rounds to nearest, ties to even; what f16 cannot hold becomes infinite. Throws as above.
void from_floats(ElementType type, std::span<float const> from, std::span<std::byte> to);

}  // namespace spillway
