// Checks invariants, in every build, on which the use of memory, the order of work or the bits of
// results depend.
#pragma once

#include <string_view>

namespace spillway {

// Throws std::logic_error("<where>: <why>"), which means a mistake of this program, not of its
// user. If the exception comes to a noexcept function, it ends the process, and MPI then ends the
// other ranks.
[[noreturn]] void fail_check(std::string_view where, std::string_view why);

// `where` names the op, item, tensor or part of the program, and `why` says what is wrong. Both are
// evaluated even if `holds` is true.
constexpr void check(bool holds, std::string_view where, std::string_view why) {
  if (!holds) [[unlikely]]
    fail_check(where, why);
}

}  // namespace spillway
