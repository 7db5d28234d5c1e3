// Reads trace.json, which a run writes for chosen steps (run.trace), for a page.
#pragma once

#include <cstddef>
#include <istream>

#include "report/page/page_json.hpp"

namespace spillway {

// Returns an entry for each of the last `most_steps` steps in the trace: its number, its measured
// lanes and, where the trace has them, its predicted ones, as StepLanes are written with about
// `most_pieces` pieces. A step that was traced again counts once, as it was last. Lines that cannot
// be read are passed over: a job that was killed leaves a part of one.
PageJson trace_lanes(std::istream& lines, std::size_t most_steps, std::size_t most_pieces);

}  // namespace spillway
