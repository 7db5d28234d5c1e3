// Proofs and simulations walk the items of several steps one by one in total order.
#pragma once

#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// An instance is one run of an item.
struct Instance {
  ItemNumber item = -1;
  int step = 0;
  int segment = 0;  // the number of this run of a segment among the runs of all segments
};

// Returns the instances of `steps` steps in total order, without a barrier between the steps. Each
// step runs the segments in `sequence`, which holds indices into Program::segments.
std::vector<Instance> unroll(Program const& program, std::vector<int> const& sequence, int steps);

// Returns the instances of enough steps that every kind of conflict about a byte occurs: two or, if
// a buffer has two versions, three, because steps s and s + 2 then share bytes. `middle` runs at
// most twice a step. A Program that runs once has one step.
std::vector<Instance> unroll_for_proof(Program const& program);

// Returns which bytes of the arena an access to `buffer` uses in step `step`.
ByteRange arena_range(Buffer const& buffer, Access const& access, int step);

}  // namespace spillway
