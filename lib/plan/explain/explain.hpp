// Explains a plan to a person: whether it fits, and what takes its time and memory.
#pragma once

#include <string>
#include <vector>

#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/words.hpp"
#include "plan/time/critical_path.hpp"

namespace spillway {

// Returns a text whose first sentence says whether the plan fits and what limits its speed. The
// three functions below make parts of this text.
std::string explain(Graph const& graph, Plan const& plan, Program const& program,
                    Simulation const& simulation, Machine const& machine, Budgets const& budgets);

// Draws the plan in letters, with a column for each layer: what happens to its activations, and
// where its parameters, gradients and optimizer state lie. A legend explains the letters that occur
// and names `host_threads`, the number of threads that run updates on the host lane. Then follow
// the chunks that belong to no layer.
std::string picture(Graph const& graph, Plan const& plan, std::int64_t host_threads);

// Describes for each tier what is there when most of its bytes are in use.
std::string peaks_text(Program const& program);

// Tells what takes a step's time, how busy lanes are and what they move.
std::string time_text(Program const& program, Simulation const& simulation,
                      std::vector<LaneShare> const& path);

// Says what fills a tier at the moment when most of its bytes are in use.
struct PeakMoment {
  ItemNumber item = -1;  // the first item at which most bytes are in use; -1 if the tier is unused
  struct Part {
    Content content{};
    bool passing = false;  // true if it is here only while an op at work needs it
    std::int64_t bytes = 0;
    int tensors = 0;
    BufferId largest = -1;
    std::int64_t largest_bytes = 0;
  };
  std::vector<Part> parts;     // sorted by bytes, largest first
  std::int64_t gap_bytes = 0;  // bytes of the tier's peak that no part fills
};
// `gap_bytes` and the bytes of all `parts` add up to the Program's peak_bytes. Sizes are rounded up
// to pages. Both versions of a buffer count; if a part of a buffer is away, only the rest counts.
// Gaps are bytes that layout could not fill, and bytes that only evaluation needs.
PeakMoment peak_moment(Program const& program, Tier tier);

}  // namespace spillway
