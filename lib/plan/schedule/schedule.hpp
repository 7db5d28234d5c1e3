// The scheduler makes a Program from a Graph and a Plan. The Program has no offsets and waits yet.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// Decides the order of items, their lanes, buffers and accesses, and links every read to its
// writers (`link`). For an inference graph the plan only says where parameters lie; if the plan is
// empty, they lie on the device. Throws std::invalid_argument if the plan asks for what is not
// supported, and std::logic_error if the plan is not normal.
Program schedule(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                 std::int64_t ranks);
// Does the same, but links nothing. `spare` is a Program of the same graph that is needed no more,
// or an empty one: its memory is used again, which takes less time than to ask for as much.
Program schedule_without_links(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                               std::int64_t ranks, Program spare = {});

}  // namespace spillway
