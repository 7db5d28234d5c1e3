// Sizes that no machine has, or that 63 bits cannot count, are refused before any search.
#pragma once

#include "graph/graph.hpp"

namespace spillway {

// Throws Error(bad_input) with one line that names the keys. Once this has passed, bytes can be
// summed and multiplied by the micro-batches of a step without overflow.
void check_limits(Graph const& train, std::int64_t micro_batches);

}  // namespace spillway
