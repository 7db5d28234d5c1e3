// Multiplies integers, whose products have twice their bits, and bounds sums.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace spillway::test::ptx {

template <class T>
struct Twice;
template <>
struct Twice<std::uint16_t> : std::type_identity<std::uint32_t> {};
template <>
struct Twice<std::int16_t> : std::type_identity<std::int32_t> {};
template <>
struct Twice<std::uint32_t> : std::type_identity<std::uint64_t> {};
template <>
struct Twice<std::int32_t> : std::type_identity<std::int64_t> {};
template <>
struct Twice<std::uint64_t> {
  __extension__ using type = unsigned __int128;
};
template <>
struct Twice<std::int64_t> {
  __extension__ using type = __int128;
};
template <class T>
using Wide = typename Twice<T>::type;

template <class T>
T low(T a, T b) {
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
template <class T>
T high(T a, T b) {
  return static_cast<T>((Wide<T>{a} * Wide<T>{b}) >> (8 * sizeof(T)));
}

inline std::int32_t clamped(std::int64_t value) {
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(value < least ? least : value > most ? most : value);
}

}  // namespace spillway::test::ptx
