// Does with single floats what instructions do besides arithmetic.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace spillway::test::ptx {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
T bits_as(std::uint64_t raw) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(raw));
}
template <class T>
std::uint64_t bits_of(T value) {
  return std::bit_cast<BitsOf<T>>(value);
}

// Makes subnormal numbers zeros that keep the sign, as .ftz does.
template <class T>
T flushed(T value) {
  return std::fabs(value) < std::numeric_limits<T>::min() ? std::copysign(T{0}, value) : value;
}

// Gives all results of f32 that are NaN the same bits, as GPUs do. NaN of f64 stay as the processor
// makes them.
inline float canonical(float value) {
  return value == value ? value : std::bit_cast<float>(0x7fffffffu);
}
inline double canonical(double value) {
  return value;
}

}  // namespace spillway::test::ptx
