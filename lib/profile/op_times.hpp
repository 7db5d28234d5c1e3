// Seconds of the ops that a run will launch, measured here and now.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"

namespace spillway {

class Exec;

// Seconds by key: cost_key, "host " before it on the host lane, "cached " before all where caches
// may hold what a step touches. 0: not known.
using OpSeconds = std::map<std::string, double, std::less<>>;

// Every distinct op of a Program's items, once; of ops on whole chunks (updates, norms), which
// plans cut into slices as they want, one of each kind, on both lanes. All not known.
OpSeconds distinct_ops(Program const& program);

struct OpLimits {
  std::int64_t most_bytes;  // of memory, for the operands of one op at a time
  double patience_s = 6.5;  // in all
};
// Times those distinct ops that `known` does not have; gives them alone. Those that would take more
// memory than they may, or by `rates` more time than is left, stay 0.
OpSeconds time_ops(Program const& program, OpSeconds const& known, Machine const& rates,
                   Exec const& exec, OpLimits const& limits);

// What such seconds come to: single ops in `machine.op_s`, but for those on whole chunks; what each
// kind came to in `machine.kind_giga_per_s`. What is not known is left out.
void set_op_times(Machine& machine, Program const& program, OpSeconds const& seconds);

}  // namespace spillway
