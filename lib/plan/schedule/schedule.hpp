// The first pass: from a Graph and a Plan to a Program without offsets and waits.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// The order of items, their lanes, buffers and accesses: clones for recompute, transfers,
// collectives, accumulation over micro-batches, updates. Every read knows its writers (link.hpp).
// `plan` matters to training only. Throws std::invalid_argument for what is not offered.
Program schedule(Graph const& graph, Plan const& plan, Purpose purpose, std::int64_t micro_batches,
                 std::int64_t ranks);

}  // namespace spillway
