// Seconds of the ops that a run will launch, measured here and now.
#pragma once

#include "plan/machine.hpp"
#include "plan/program.hpp"

namespace spillway {

class Exec;

// Into `machine.op_s`: every distinct op of a Program's items, once. Into
// `machine.kind_giga_per_s`: what each kind came to, and ops on whole chunks (updates, norms)
// alone, on both lanes, for they are cut into slices as the plan wants. Takes the memory of one
// op's operands at a time, and some seconds; ops that would take more than `most_bytes`, or by the
// machine's rates more time than is left, stay 0: known by rates alone.
void measure_ops(Machine& machine, Program const& program, Exec const& exec,
                 std::int64_t most_bytes);

}  // namespace spillway
