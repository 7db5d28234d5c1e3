// Writes how the gradients of chunks are summed over micro-batches and ranks, and what ranks send
// each other, as variables of BoundRows.
#pragma once

#include <vector>

#include "plan/bound/chunk_choices.hpp"

namespace spillway {

// `updates` are the variables for shares of the chunks that each lane updates, and `left` those for
// shares of the gradients that have left the device by the commit.
struct SummedChunks {
  ChunkKind const& kind;
  PerLane<int> const& updates;
  std::vector<int> const& left;
};
void add_sums(BoundRows& rows, BoundQuestion const& question, SummedChunks const& chunks);

}  // namespace spillway
