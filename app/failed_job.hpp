// Tells how a job ended that an exception has ended. Nothing is written where another job has taken
// the directory over. The functions throw nothing.
#pragma once

#include <exception>

#include "base/steady_clock.hpp"
#include "job/run_dir.hpp"
#include "report/metrics.hpp"
#include "train/summarize.hpp"

namespace spillway {

// Of a job that has trained: writes the row with the end and summary.json, and repeats the
// warnings. It asks no other rank, as these may be gone. The `exit` of `parts` need not be set.
void tell_failure(std::exception const& error, SummaryParts parts, RunDir const& dir) noexcept;

// Of a job that has not: writes the row `began`, and the one with the end. A run whose
// metrics.jsonl is not there yet, or is another one's, gets neither, nor does one whose input was
// wrong, as that has started nothing. `begin` is when the process began.
void tell_failed_start(std::exception const& error, RunEvent const& began,
                       SteadyClock::time_point begin, RunDir const& dir) noexcept;

}  // namespace spillway
