// The scheduler makes a Program from a Graph and a Plan. The Program has no offsets and waits yet.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// Decides the order of items, their lanes, buffers and accesses, and links every read to its
// writers (`link`). For an inference graph the plan only says where parameters lie; an empty plan
// means the device. Throws std::invalid_argument for a request that is not supported, and
// std::logic_error for a Plan that is not normal.
Program schedule(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                 std::int64_t ranks);

}  // namespace spillway
