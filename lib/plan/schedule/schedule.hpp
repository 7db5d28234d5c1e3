// From a Graph and a Plan to a Program without offsets and waits.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// The order of items, their lanes, buffers and accesses: clones for recompute, transfers,
// collectives, accumulation over micro-batches, updates. Every read knows its writers (`link`).
// Of an inference graph the plan says only where parameters lie; an empty one: on the device.
// Throws std::invalid_argument for what is not offered, std::logic_error for a Plan that is not
// normal.
Program schedule(Graph const& graph, Plan const& plan, Purpose purpose, std::int64_t micro_batches,
                 std::int64_t ranks);

}  // namespace spillway
