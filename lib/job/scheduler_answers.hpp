// What batch systems print about the end of a job, read. Empty where it is not there.
#pragma once

#include <optional>
#include <string_view>

namespace spillway {

// "[[[D:]H:]M:]S", in seconds.
std::optional<double> parse_clock(std::string_view text);

// The end of a job in Unix seconds, in what `squeue -O EndTime` prints with SLURM_TIME_FORMAT=%s,
// and $SLURM_JOB_END_TIME holds.
std::optional<double> parse_slurm_end(std::string_view text);

// The same, in what `qstat -f` of PBS Pro, OpenPBS or Torque prints; `now_s` counts alike.
std::optional<double> parse_pbs_end(std::string_view text, double now_s);

}  // namespace spillway
