// Finds out when the batch system ends this job, for `run.max_time: auto`.
#pragma once

#include <optional>
#include <string>

#include "base/steady_clock.hpp"
#include "comm/comm.hpp"
#include "config/config.hpp"

namespace spillway {

struct JobEnd {
  std::optional<double> at_s;  // when the job ends, in Unix seconds
  std::string said;            // names the source of the time, or says why there is none
  // True if a batch system runs this job but does not tell when the job ends.
  bool failed = false;
};

// Asks the environment, then squeue or qstat, which may take `patience_s` seconds. `now_s` is the
// current Unix time.
JobEnd ask_scheduler(double now_s, int patience_s);

// Returns run.max_time in seconds since `begin`, or nothing if there is no limit. All ranks must
// call it. For `auto`, rank 0 asks the scheduler and logs the answer, and the run then ends half a
// minute before its job.
std::optional<double> time_limit_s(RunConfig const& run, SteadyClock::time_point begin, Comm& comm);

}  // namespace spillway
