// Brings state from where one plan has it to where another one has it, between two steps.
#pragma once

#include <optional>

#include "plan/data/program.hpp"

namespace spillway {

// Makes a Program that runs once and brings everything persistent of `from` to where `to` has it;
// what is there already stays. Both are train Programs of the same graph. It needs as much of each
// tier as the larger of the two and is proved to overwrite nothing that was not moved before.
// Returns nothing if there is no room on the way. Throws std::logic_error for a Violation, which
// would be a mistake of ours.
std::optional<Program> make_move(Program const& from, Program const& to);

}  // namespace spillway
