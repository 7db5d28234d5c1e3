// Seconds of the ops that a run will launch, measured here and now.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "profile/host_trials.hpp"

namespace spillway {

class Exec;

// Seconds by key: cost_key, host_prefix before it on the host lane, "cached " before all where
// caches may hold what a step touches. 0: not known.
using OpSeconds = std::map<std::string, double, std::less<>>;

// Every distinct op of a Program's items, once; of ops on whole chunks (updates, norms), which
// plans cut into slices as they want, one of each kind, on the compute lane and in every trial on
// the host lane. All not known.
OpSeconds distinct_ops(Program const& program, HostTrials const& trials = {});

struct OpLimits {
  std::int64_t most_bytes;  // of memory, for the operands of one op at a time
  double patience_s = 6.5;  // in all
};
// Times those distinct ops that `known` does not have; gives them alone. Those that would take more
// memory than they may, or by `rates` more time than is left, stay 0.
OpSeconds time_ops(Program const& program, OpSeconds const& known, Machine const& rates,
                   Exec const& exec, OpLimits const& limits, HostTrials const& trials = {});

// What such seconds come to: single ops in `machine.op_s`, but for those on whole chunks; what each
// kind came to in `machine.kind_giga_per_s`, on the host lane with the best of its trials, which is
// in `machine.host_cores`. What is not known is left out.
void set_op_times(Machine& machine, Program const& program, OpSeconds const& seconds,
                  HostTrials const& trials = {});

}  // namespace spillway
