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

// An OpSeconds maps keys of ops to seconds, which are 0 if they are not known. A key is that of
// cost_key, with host_prefix before it if the op runs on the host lane, and with "cached " before
// all that if caches may hold a step's tensors.
using OpSeconds = std::map<std::string, double, std::less<>>;

// Returns the keys of all distinct ops of a Program, with unknown seconds. Of ops on whole chunks
// (updates, norms) there is only one of each kind, because plans cut such ops into slices of any
// size. Ops of the host lane have an entry for each trial.
OpSeconds distinct_ops(Program const& program, HostTrials const& trials = {});

struct OpLimits {
  std::int64_t most_bytes;  // how much memory the operands of one op may take
  double patience_s = 6.5;  // how long all ops together may take
};
// Times the distinct ops that `known` lacks, and returns only these. An op stays 0 if it needs more
// memory than the limit or, by `rates`, more time than is left. `told`, which may be empty, is
// called before each measurement with how many are done, and with how many there may be.
using TimedOps = std::function<void(std::int64_t done, std::int64_t total)>;
OpSeconds time_ops(Program const& program, OpSeconds const& known, Machine const& rates,
                   Compute const& compute, OpLimits const& limits, HostTrials const& trials = {},
                   TimedOps const& told = {});

// Enters measured seconds into `machine`. Seconds of single ops, except ops on whole chunks, go to
// `op_s`, and the rate of each kind of op goes to `kind_giga_per_s`. The host lane gets the rates
// of its best trial, whose threads go to `host_cores`. Times that are not known are left out.
void set_op_times(Machine& machine, Program const& program, OpSeconds const& seconds,
                  HostTrials const& trials = {});

}  // namespace spillway
