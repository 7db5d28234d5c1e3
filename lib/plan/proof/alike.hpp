// A proof that ranks with unlike numbers of micro-batches meet in all that they exchange.
#pragma once

#include <optional>
#include <string>

#include "plan/data/program.hpp"

namespace spillway {

// In a step of either Program a rank exchanges the same with others, in the same order. Every rank
// works down its lane `comm` in order and waits only for its own earlier items, so two such ranks
// never wait for each other in vain. Returns one line that names the first difference, or nothing.
std::optional<std::string> unlike_exchanges(Program const& one, Program const& other);
// Throws std::logic_error if `unlike_exchanges` finds a difference.
void require_alike_exchanges(Program const& one, Program const& other);

}  // namespace spillway
