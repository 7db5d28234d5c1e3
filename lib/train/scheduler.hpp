// When the batch system ends this job: for `run.max_time: auto`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/steady_clock.hpp"
#include "comm/comm.hpp"
#include "config/config.hpp"

namespace spillway {

// The end of a job in Unix seconds, in what `squeue -O EndTime` prints with SLURM_TIME_FORMAT=%s,
// and $SLURM_JOB_END_TIME holds. Empty where it is no time.
std::optional<double> parse_slurm_end(std::string_view text);

// The same, in what `qstat -f` of PBS Pro, OpenPBS or Torque prints; `now_s` counts alike.
std::optional<double> parse_pbs_end(std::string_view text, double now_s);

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
