// Integer helpers that cannot fail silently.
#pragma once

#include <cassert>
#include <concepts>

namespace spillway {

template <std::integral T>
constexpr T div_ceil(T a, T b) {
  return (a + b - 1) / b;
}

template <std::integral T>
constexpr T round_up(T a, T multiple) {
  return div_ceil(a, multiple) * multiple;
}

template <std::integral T>
constexpr T div_exact(T a, T b) {
  assert(a % b == 0);
  return a / b;
}

}  // namespace spillway
