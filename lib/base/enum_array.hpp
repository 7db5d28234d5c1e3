// Defines an array with one value for each enumerator of an enumeration. Such arrays can be added
// and subtracted.
#pragma once

#include <array>

namespace spillway {

template <class Enum, class T, std::size_t N>
struct EnumArray : std::array<T, N> {
  using Array = std::array<T, N>;
  using Array::operator[];

  constexpr T& operator[](Enum e) { return Array::operator[](static_cast<std::size_t>(e)); }
  constexpr T const& operator[](Enum e) const {
    return Array::operator[](static_cast<std::size_t>(e));
  }
  constexpr EnumArray& operator+=(EnumArray const& other) {
    for (std::size_t i = 0; i < N; ++i) (*this)[i] += other[i];
    return *this;
  }
  constexpr EnumArray& operator-=(EnumArray const& other) {
    for (std::size_t i = 0; i < N; ++i) (*this)[i] -= other[i];
    return *this;
  }
  friend constexpr EnumArray operator+(EnumArray a, EnumArray const& b) { return a += b; }
  friend constexpr EnumArray operator-(EnumArray a, EnumArray const& b) { return a -= b; }
};

}  // namespace spillway
