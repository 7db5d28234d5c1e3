// What is refused before anything is searched: no machine has it, or 63 bits do not count it.
#pragma once

#include "graph/graph.hpp"

namespace spillway {

// Throws Error(bad_input), one line that names the keys. What passes can be summed and multiplied
// by the micro-batches of a step wherever plans are made.
void check_limits(Graph const& train, std::int64_t micro_batches);

}  // namespace spillway
