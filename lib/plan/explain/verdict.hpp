// These functions say in a few lines how a plan fits and what limits its step.
#pragma once

#include <string>
#include <vector>

#include "plan/bound/step_bound.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/time/critical_path.hpp"

namespace spillway {

// Returns a sentence that says how much memory is spare, what leaves the device, and what delays a
// step besides compute. `path` are the shares of lanes in its critical path.
std::string verdict(Graph const& graph, Plan const& plan, Program const& program,
                    Simulation const& simulation, std::vector<LaneShare> const& path,
                    Budgets const& budgets);

// Returns the lane besides compute that delays a step most, or null if none takes more than a
// twentieth of the critical path `path` of a step of `step_s` seconds.
LaneShare const* delaying_lane(std::vector<LaneShare> const& path, double step_s);

// Returns a text such as "computing 81 %, working on the host 19 % of a step", which names each
// lane that takes a twentieth of the critical path or more.
std::string what_binds(std::vector<LaneShare> const& path, double step_s);

// The following texts are indented lines of at most kPageColumns (base/wrapped.hpp).

// Says how much shorter than this step that of another plan may be at most. The text is empty if
// no bound is known.
std::string bound_line(double step_s, StepBound const& bound);
// Lists the budget and the peak of each tier in use.
std::string tiers_table(Program const& program, Budgets const& budgets, bool unified);
// Says how much is written to a node's drives, and how long they last.
std::string drive_lines(Program const& program, Simulation const& simulation,
                        Machine const& machine);

// Returns the verdict, on one line, from the text that `explain` has made.
std::string verdict_in(std::string const& explanation);

}  // namespace spillway
