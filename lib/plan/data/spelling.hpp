// Files spell the values of an enumeration in the same way as the sources. The names come from the
// compiler, so that no list of names can become outdated.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace spillway {

// Returns a value's name, or "" if compilers write the value as "(spillway::Lane)7" without a name.
template <auto value>
constexpr std::string_view enumerator() {
  std::string_view text = __PRETTY_FUNCTION__;  // The text has "value = spillway::Lane::h2d" in it.
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

// This array holds the names of an enumeration's values in order, from value 0 on.
template <class E>
inline constexpr auto kWords = []<std::size_t... value>(std::index_sequence<value...>) {
  return std::array{enumerator<static_cast<E>(value)>()...};
}
(std::make_index_sequence<count_enumerators<E>()>());

}  // namespace spillway
