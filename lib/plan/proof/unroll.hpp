// Lists the items of several steps in total order, as proofs and simulations walk them.
#pragma once

#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// An instance is one execution of an item.
struct Instance {
  ItemNumber item = -1;
  int step = 0;
  int segment = 0;  // which execution of a segment, counted over all steps
};

// Walks `sequence` (indices into Program::segments) `steps` times, without a barrier in between.
std::vector<Instance> unroll(Program const& program, std::vector<int> const& sequence, int steps);

// Unrolls until every kind of meeting on a byte has been seen: `middle` at most twice, and two
// steps, or three where a buffer has two versions, for then steps s and s + 2 share bytes.
std::vector<Instance> unroll_for_proof(Program const& program);

struct ByteRange {
  std::int64_t first = 0, last = 0;
};
// Returns the bytes of its tier's arena that an access means in the given step.
ByteRange arena_range(Buffer const& buffer, Access const& access, int step);

}  // namespace spillway
