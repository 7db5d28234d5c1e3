// Reads what batch systems print about the end of a job. The functions return nothing if the text
// does not have it.
#pragma once

#include <optional>
#include <string_view>

namespace spillway {

// Reads "[[[D:]H:]M:]S" and returns seconds.
std::optional<double> parse_clock(std::string_view text);

// Returns the end of a job in Unix seconds, from what `squeue -O EndTime` prints with
// SLURM_TIME_FORMAT=%s, or from $SLURM_JOB_END_TIME.
std::optional<double> parse_slurm_end(std::string_view text);

// Returns the end of a job in Unix seconds, from what `qstat -f` of PBS Pro, OpenPBS or Torque
// prints. `now_s` is the current Unix time.
std::optional<double> parse_pbs_end(std::string_view text, double now_s);

}  // namespace spillway
