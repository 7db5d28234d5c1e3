// A training step by blocks instead of ops: what the search looks at.
#pragma once

#include <vector>

#include "plan/search/policy_costs.hpp"

namespace spillway {

struct BlockCost {
  bool layer = false;
  ItemCost forward;
  PerPolicy<PolicyCost> policies;
  std::vector<int> chunks;  // whose gradients its backward ops make parts of
  std::vector<int> forward_chunks, backward_chunks;  // whose parameters its ops read
};

// Of an op, on either lane that may run it.
struct LaneCosts {
  ItemCost compute, host;
};

// A gradient that is summed over micro-batches and ranks: a chunk's own, or a part of one.
struct GradientCost {
  std::int64_t bytes = 0;  // as a micro-batch makes it
  // Sent to those that sum up parts of it, and received from them.
  std::int64_t scatter_sent_bytes = 0, gather_sent_bytes = 0;
  LaneCosts accumulate, tree_sum;
};

// A part of a chunk's gradient that is summed over micro-batches by itself: see GradientPart.
struct PartCost : GradientCost {
  int block = -1;      // whose backward pass makes it
  bool fused = false;  // nothing is made in one micro-batch: its op adds to the chunk's gradient
};

struct ChunkCost {
  bool trainable = true;                  // else it has neither gradient nor update
  int first_block = -1, last_block = -1;  // that make its gradient, parts of it among that
  int own_block = -1;                     // with which all but the parts is made
  IdVector<PartCost> parts;
  std::vector<int> readers;  // stations, in order; forward ones count from 0, backward ones follow
  std::int64_t elements = 0;
  bool whole_chunk = false;          // it is not cut into slices: Op::whole_chunk
  std::int64_t parameter_bytes = 0;  // in use
  // What this rank holds of it, and changes: see sharding.hpp.
  std::int64_t home_bytes = 0, held_gradient_bytes = 0, optimizer_bytes = 0;
  double share = 1;
  // Sent to other ranks: for a fetch of parameters, after an update.
  std::int64_t fetch_sent_bytes = 0, update_sent_bytes = 0;
  bool reduces_each = false;  // its gradient is summed over ranks after every micro-batch
  GradientCost gradient;
  LaneCosts norm, update;
};

struct BlockModel {
  std::int64_t ranks = 1;     // that send what the chunks say: see sharding.hpp
  int last_layer = -1;        // a block
  bool reduces_each = false;  // gradients are summed over ranks after every micro-batch
  IdVector<BlockCost> blocks;
  IdVector<ChunkCost> chunks;
  std::vector<int> trained;  // chunks
};

// `policies`: those that are wanted; the others' numbers stay zero. What ranks send: sharding.hpp.
BlockModel block_model(Graph const& graph, Machine const& machine,
                       std::vector<BlockPolicy> const& policies, std::int64_t ranks = 1);

}  // namespace spillway
