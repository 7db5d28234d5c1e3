// A Fault says what is wrong in a file, and where. Only the sources in this folder use it.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace spillway {

// A Fault is thrown without its place. Callers that it passes add the place, such as
// ".items[41].lane", key by key.
struct Fault {
  explicit Fault(std::string what) : why(std::move(what)) {}
  std::string why, where = {};
};

inline void require(bool holds, char const* why) {
  if (!holds) throw Fault(why);
}

// Calls `check` and, if it throws a Fault, adds a key or the number of a list's element to the
// Fault's place.
void within(auto const& key_or_number, auto const& check) {
  try {
    check();
  } catch (Fault& fault) {
    constexpr bool is_number = std::integral<std::remove_cvref_t<decltype(key_or_number)>>;
    fault.where = fmt::format(is_number ? "[{}]{}" : ".{}{}", key_or_number, fault.where);
    throw;
  }
}

}  // namespace spillway
