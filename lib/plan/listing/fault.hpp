// What is wrong in a file, and where. Only for this folder's sources.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace spillway {

// It is thrown without a place. On its way out it learns within what it lies: ".items[41].lane".
struct Fault {
  explicit Fault(std::string what) : why(std::move(what)) {}
  std::string why, where = {};
};

inline void require(bool holds, char const* why) {
  if (!holds) throw Fault(why);
}

// What `check` throws lies within this key, or this element of a list.
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
