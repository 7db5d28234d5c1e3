// A Flaw says what is wrong with a Program, and where. A check that fails throws a Flaw, and the
// functions that have called the check add the place.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

namespace spillway {

struct Flaw {
  std::string why, where = {};
};

template <class... Args>
void require(bool holds, fmt::format_string<Args...> why, Args&&... args) {
  if (!holds) throw Flaw{fmt::format(why, std::forward<Args>(args)...)};
}

// Returns whether `id` is the index of an element of the list.
bool is_id(std::int64_t id, auto const& list) {
  return id >= 0 && id < std::ssize(list);
}

}  // namespace spillway
