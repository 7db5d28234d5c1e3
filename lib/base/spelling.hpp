// Files spell the values of an enumeration in the same way as the sources. The names come from the
// compiler, so that no list of names can become outdated.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>
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

// This array holds the names of an enumeration's values, each at the index that is the value. An
// enumeration whose words are no names of C++ has a specialization next to it.
template <class E>
inline constexpr auto kWords = []<std::size_t... value>(std::index_sequence<value...>) {
  return std::array{enumerator<static_cast<E>(value)>()...};
}
(std::make_index_sequence<count_enumerators<E>()>());

template <class E>
requires std::is_enum_v<E>
constexpr std::string_view word(E value) {
  return kWords<E>[static_cast<std::size_t>(value)];
}

// Returns the value that has this word, or nothing if none has.
template <class E>
requires std::is_enum_v<E>
constexpr std::optional<E> parse_word(std::string_view text) {
  auto const at = std::ranges::find(kWords<E>, text) - kWords<E>.begin();
  if (at == std::ssize(kWords<E>)) return std::nullopt;
  return static_cast<E>(at);
}

}  // namespace spillway
