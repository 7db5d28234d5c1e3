// A file spells the values of an enumeration as the sources name them. The compiler knows these
// names, so no list of them can lag behind.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace spillway {

// Returns "" if no enumerator has the value: GCC and Clang then write a cast, "(spillway::Lane)7".
template <auto value>
constexpr std::string_view enumerator() {
  std::string_view text = __PRETTY_FUNCTION__;  // "... value = spillway::Lane::h2d; ..."
  text = text.substr(text.find("value = ") + 8);
  text = text.substr(0, text.find_first_of(";]"));
  return text.starts_with('(') ? "" : text.substr(text.rfind(':') + 1);
}

template <class E, std::size_t n = 0>
constexpr std::size_t count_enumerators() {
  if constexpr (enumerator<static_cast<E>(n)>().empty())
    return n;
  else
    return count_enumerators<E, n + 1>();
}

// These are the words of the values from 0 on, in order.
template <class E>
inline constexpr auto kWords = []<std::size_t... value>(std::index_sequence<value...>) {
  return std::array{enumerator<static_cast<E>(value)>()...};
}
(std::make_index_sequence<count_enumerators<E>()>());

}  // namespace spillway
