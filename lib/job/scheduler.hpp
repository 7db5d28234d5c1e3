// When the batch system ends this job: for `run.max_time: auto`.
#pragma once

#include <optional>
#include <string>

#include "base/steady_clock.hpp"
#include "comm/comm.hpp"
#include "config/config.hpp"

namespace spillway {

struct JobEnd {
  std::optional<double> at_s;  // Unix seconds
  std::string said;            // by whom, or why there is none
  bool failed = false;         // there is a scheduler that does not tell
};

// Asks the environment, then squeue or qstat, for at most `patience_s`.
JobEnd ask_scheduler(double now_s, int patience_s);

// Collective: run.max_time in seconds since `begin`, empty for none. For `auto`, rank 0 asks and
// says what it heard; the run then ends half a minute before its job.
std::optional<double> time_limit_s(RunConfig const& run, SteadyClock::time_point begin, Comm& comm);

}  // namespace spillway
