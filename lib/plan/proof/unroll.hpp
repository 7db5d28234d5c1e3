// The items of several steps in total order, as proofs, derivations and simulations walk them.
#pragma once

#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// One execution of an item.
struct Instance {
  ItemNumber item = -1;
  int step = 0;
  int segment = 0;  // which execution of a segment, counted over all steps
};

// `sequence` (indices into Program::segments) `steps` times over, without a barrier in between.
std::vector<Instance> unroll(Program const& program, std::vector<int> const& sequence, int steps);

// Steps after which every kind of meeting on a byte has been seen: two, and three where a buffer
// has two versions, for then steps s and s + 2 share bytes.
int proof_steps(Program const& program);

struct ByteRange {
  std::int64_t first = 0, last = 0;
};
// Where in its tier's arena an access falls in the given step.
ByteRange placed(Buffer const& buffer, Access const& access, int step);

}  // namespace spillway
