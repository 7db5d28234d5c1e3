// A move copies state, between two steps, from its places in one plan to its places in another.
#pragma once

#include <optional>

#include "plan/data/program.hpp"

namespace spillway {

// Makes a Program that runs once and moves everything persistent from its place in `from` to its
// place in `to`. State that is already in its place stays there. Both arguments are training
// Programs of the same graph. The move needs as much of each tier as the larger of the two Programs
// and is proved to overwrite nothing that has not been moved yet. Returns nothing if there is no
// room for the move. Throws std::logic_error for a Violation, which would be a bug of this library.
std::optional<Program> make_move(Program const& from, Program const& to);

}  // namespace spillway
