// From one plan to another between two steps.
#pragma once

#include <optional>

#include "plan/data/program.hpp"

namespace spillway {

// A Program that runs once and brings everything persistent of `from` to where `to` has it; what
// has its place already stays. Both are train Programs of the same graph. It needs what the larger
// of the two needs of each tier and is proved to overwrite nothing that was not moved before.
// Empty: there is no room on the way. Throws std::logic_error for a Violation, which is our
// mistake.
std::optional<Program> make_move(Program const& from, Program const& to);

}  // namespace spillway
