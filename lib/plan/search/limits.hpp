// Before anything is searched, what no machine has or 63 bits do not count is refused.
#pragma once

#include "graph/graph.hpp"

namespace spillway {

// Throws Error(bad_input), one line that names the keys. Wherever plans are made, what passes can
// be summed and multiplied by the micro-batches of a step without overflow.
void check_limits(Graph const& train, std::int64_t micro_batches);

}  // namespace spillway
