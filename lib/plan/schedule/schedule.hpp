// This makes a Program, still without offsets and waits, from a Graph and a Plan.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// Decides the order of items, their lanes, buffers and accesses, and lets every read know its
// writers (`link`). For an inference graph the plan says only where parameters lie; an empty one
// means the device. Throws std::invalid_argument for what is not offered, std::logic_error for a
// Plan that is not normal.
Program schedule(Graph const& graph, Plan const& plan, Purpose purpose, std::int64_t micro_batches,
                 std::int64_t ranks);

}  // namespace spillway
