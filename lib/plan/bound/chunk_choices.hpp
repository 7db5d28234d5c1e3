// Writes what a plan may do with chunks as variables of BoundRows.
#pragma once

#include <vector>

#include "plan/bound/bound_rows.hpp"

namespace spillway {

// Adds chunks that are alike, of which there are `count` in a run of blocks that ends at `block`.
// Every part of them may be treated differently.
void add_chunks(BoundRows& rows, BoundQuestion const& question, ChunkWork const& chunk,
                std::int64_t count, int block);

}  // namespace spillway
