// Checks that what a Program from a file refers to exists, and that its sizes are possible.
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

// Calls `check` and, if it throws a Flaw, adds a key or the number of a list's element to the
// Flaw's place, which becomes for example ".items[41].lane" on the way through several calls.
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
