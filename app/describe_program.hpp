// Describes a Program, which `spillway plan --items --json` prints.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

inline constexpr std::string_view kNoProgram =
    "is no Program, which `spillway plan --items --json` prints";

// Returns lines about the Program in a file, with its time on the machine in the file `machine`
// unless that is "". Throws Error: bad_input if the file holds something else, damaged if the
// Program's proof does not hold, as after it was edited.
std::string describe_program(std::string const& path, std::string const& machine);

}  // namespace spillway
