// These functions explain a plan to people: whether it fits, and what takes its time and memory.
#pragma once

#include <string>
#include <vector>

#include "plan/bound/step_bound.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/words.hpp"
#include "plan/time/critical_path.hpp"

namespace spillway {

// StepRows says which rows of a step hold text.
struct StepRows {
  double filled = 1;     // the share that holds text, were all ranks to run what the Program runs
  bool is_most = false;  // whether other ranks have fewer micro-batches than the Program
};

// Returns a text whose first sentence says whether the plan fits and what limits its speed. `path`
// is the step's critical path. The functions `picture`, `peaks_text` and `time_text` make parts of
// this text. A bound of 0 s is left out.
std::string explain(Graph const& graph, Plan const& plan, Program const& program,
                    Simulation const& simulation, std::vector<LaneShare> const& path,
                    Machine const& machine, Budgets const& budgets, StepRows const& rows = {},
                    StepBound const& bound = {});

// Draws the plan in letters. Each layer has a column that shows what happens to its activations,
// and where its parameters, gradients and optimizer state lie. A legend explains the letters that
// occur and names `host_threads`, the number of threads that run updates on the host lane. The last
// lines say where chunks outside of the layers lie.
std::string picture(Graph const& graph, Plan const& plan, std::int64_t host_threads);

// Returns a text that says what each tier holds when most of its bytes are in use.
std::string peaks_text(Program const& program);

// Returns a text that says what takes a step's time, how busy lanes are and what they move.
std::string time_text(Program const& program, Simulation const& simulation,
                      std::vector<LaneShare> const& path);

// A PeakMoment says what fills a tier at the moment when most of its bytes are in use.
struct PeakMoment {
  ItemNumber item = -1;  // the first item at which most bytes are in use; -1 if the tier is unused
  struct Contributor {
    Content content{};
    bool passing = false;  // true if the bytes are there only for the work of that moment
    std::int64_t bytes = 0;
    int tensors = 0;
    BufferId largest = -1;
    std::int64_t largest_bytes = 0;
  };
  std::vector<Contributor> contributors;  // in order of their bytes, the largest first
  std::int64_t gap_bytes = 0;             // the bytes of the tier's peak that none of them fills
};
// Returns what fills the tier when most of its bytes are in use. `gap_bytes` and the bytes of all
// `contributors` add up to the Program's peak_bytes. Sizes are rounded up to pages. A buffer with
// two versions, for even and odd steps, counts twice. Gaps are bytes that layout could not fill,
// and bytes that only evaluation needs.
PeakMoment peak_moment(Program const& program, Tier tier);

}  // namespace spillway
