// A Program from a file is checked: all that it refers to must exist, and its sizes be possible.
#pragma once

#include <concepts>
#include <type_traits>

#include "plan/data/program.hpp"
#include "plan/proof/flaw.hpp"

namespace spillway {

// Throws a Flaw unless the Program has the properties that `check_shape` takes for granted: the
// tensors and ops that it refers to exist, its sizes are possible, and the bytes that a step moves
// fit into 63 bits. Programs that this library makes always have these properties.
void check_references(Program const& program);

// Calls `check`. If `check` throws a Flaw, a key or the number of a list's element is put before
// the Flaw's place, so that several calls inside each other make a place such as ".items[41].lane".
void within(auto const& key_or_number, auto const& check) {
  try {
    check();
  } catch (Flaw& flaw) {
    constexpr bool is_number = std::integral<std::remove_cvref_t<decltype(key_or_number)>>;
    flaw.where = fmt::format(is_number ? "[{}]{}" : ".{}{}", key_or_number, flaw.where);
    throw;
  }
}

}  // namespace spillway
