// Measures the seconds of the ops that a run will launch, on the machine on which it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "profile/host_trials.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// The keys are those of cost_key, after host_prefix if the op runs on the host lane, and after
// "cached " if caches may hold a step's tensors. Seconds are 0 if they are not known.
using OpSeconds = std::map<std::string, double, std::less<>>;

// Returns every distinct op of a Program once, with unknown seconds. Plans cut ops on whole chunks
// (updates, norms) into slices as they like, so there is only one of each kind. Ops of the host
// lane are there once for each trial.
OpSeconds distinct_ops(Program const& program, HostTrials const& trials = {});

struct OpLimits {
  std::int64_t most_bytes;  // for the operands of one op at a time
  double patience_s = 6.5;  // for all ops together
};
// Times the distinct ops that `known` lacks, and returns only these. An op stays 0 if it needs more
// memory than the limit or, by `rates`, more time than is left.
OpSeconds time_ops(Program const& program, OpSeconds const& known, Machine const& rates,
                   Compute const& compute, OpLimits const& limits, HostTrials const& trials = {});

// Enters measured seconds: of single ops, except those on whole chunks, in `machine.op_s`; the rate
// of each kind in `machine.kind_giga_per_s`, for the host lane with the best trial's threads, which
// go to `machine.host_cores`. It leaves out what is not known.
void set_op_times(Machine& machine, Program const& program, OpSeconds const& seconds,
                  HostTrials const& trials = {});

}  // namespace spillway
