// Invariants that guard memory, order or bits, held in every build.
#pragma once

#include <string_view>

namespace spillway {

// Throws std::logic_error("<where>: <why>"): a mistake of this program, not of its user. From a
// function that may not throw it ends the process, and MPI the other ranks.
[[noreturn]] void fail_check(std::string_view where, std::string_view why);

// `where` names the op, item, tensor or part of the program, and `why` says what is wrong.
constexpr void check(bool holds, std::string_view where, std::string_view why) {
  if (!holds) [[unlikely]]
    fail_check(where, why);
}

}  // namespace spillway
