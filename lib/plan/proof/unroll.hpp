// Lists the items of several steps in total order, which is how proofs and simulations walk them.
#pragma once

#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// An instance is one run of an item.
struct Instance {
  ItemNumber item = -1;
  int step = 0;
  int segment = 0;  // number of the segment's execution among those of all steps
};

// Lists the items of `steps` steps, without a barrier between the steps. Each step runs the
// segments in `sequence`, which holds indices into Program::segments.
std::vector<Instance> unroll(Program const& program, std::vector<int> const& sequence, int steps);

// Unrolls so many steps that all kinds of conflicts about a byte occur. `middle` runs at most twice
// a step, and there are two steps. There are three if a buffer has two versions, because steps s
// and s + 2 then share bytes.
std::vector<Instance> unroll_for_proof(Program const& program);

struct ByteRange {
  std::int64_t first = 0, last = 0;
};
// Returns which bytes of its tier's arena an access uses in the given step.
ByteRange arena_range(Buffer const& buffer, Access const& access, int step);

}  // namespace spillway
