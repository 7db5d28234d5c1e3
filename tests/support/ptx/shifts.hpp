#pragma once

#include <cstdint>
#include <type_traits>

namespace spillway::test::ptx {

using U32 = std::uint32_t;

// PTX shifts by all bits or more leave zeros, or copies of the sign; C++ leaves them undefined.
template <class T>
T shift_left(T a, U32 count) {
  constexpr U32 bits = 8 * sizeof(T);
  return count >= bits ? T{0} : static_cast<T>(a << count);
}
template <class T>
T shift_right(T a, U32 count) {
  constexpr U32 bits = 8 * sizeof(T);
  if (count < bits) return static_cast<T>(a >> count);
  return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
}

}  // namespace spillway::test::ptx
