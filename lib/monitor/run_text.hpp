// Describes a run for people who look at its directory.
#pragma once

#include <string>
#include <vector>

#include "monitor/run_record.hpp"

namespace spillway {

// Returns lines that say what the run is, how far it has come, what its jobs did, which checkpoints
// there are, and what is wrong with it.
std::string describe_run(RunRecord const& run);

// Returns a line about a row with `event`, such as "2026-01-31T09:05:00Z  resume at step 40".
std::string event_line(EventRow const& row);

}  // namespace spillway
