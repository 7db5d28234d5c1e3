// Converts between enumerators and the words that stand for them in files, which are usually their
// names. The names come from the compiler, so that no list of names can become outdated.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace spillway {

// Returns the name of an enumerator, or "" if no enumerator has the value: compilers then write the
// value as "(spillway::Lane)7".
template <auto value>
constexpr std::string_view enumerator() {
  std::string_view text = __PRETTY_FUNCTION__;  // for example "... value = spillway::Lane::h2d]"
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

// kWords<E> holds the words for the enumerators of E, the one of value n at index n. An enumeration
// whose words are no identifiers of C++ specializes kWords next to its definition.
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

// Returns the enumerator whose word is `text`, or nothing if there is none.
template <class E>
requires std::is_enum_v<E>
constexpr std::optional<E> parse_word(std::string_view text) {
  auto const at = std::ranges::find(kWords<E>, text) - kWords<E>.begin();
  if (at == std::ssize(kWords<E>)) return std::nullopt;
  return static_cast<E>(at);
}

}  // namespace spillway
