// Checks invariants in all builds, release builds included. The use of memory, the order of work or
// the bits of results depend on such invariants.
#pragma once

#include <string_view>

namespace spillway {

// Throws std::logic_error("<where>: <why>"), which means a mistake of this program, not of its
// user. If the exception comes to a noexcept function, it ends the process, and MPI then ends the
// other ranks.
[[noreturn]] void fail_check(std::string_view where, std::string_view why);

// Calls fail_check unless `holds` is true. `where` names what has the mistake, such as an op or a
// tensor, and `why` says what is wrong with it. Both texts are evaluated even if `holds` is true.
constexpr void check(bool holds, std::string_view where, std::string_view why) {
  if (!holds) [[unlikely]]
    fail_check(where, why);
}

}  // namespace spillway
