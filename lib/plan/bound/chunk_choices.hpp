// Writes what a plan may do with chunks as variables of BoundRows.
#pragma once

#include <vector>

#include "plan/bound/bound_rows.hpp"

namespace spillway {

// A ChunkKind stands for chunks that are alike and are read first in one run of blocks, of which
// `block` is one.
struct ChunkKind {
  ChunkWork work;
  std::vector<int> chunks;
  int block;
};

// Adds such chunks. Every part of them may be treated differently.
void add_chunks(BoundRows& rows, BoundQuestion const& question, ChunkKind const& kind);

}  // namespace spillway
