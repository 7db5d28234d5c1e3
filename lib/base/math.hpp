// Divides integers exactly or rounded up, and rounds them up to multiples.
#pragma once

#include <concepts>

#include "base/check.hpp"

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
  check(a % b == 0, "a division", "leaves a rest");
  return a / b;
}

}  // namespace spillway
