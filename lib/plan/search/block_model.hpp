// A training step by blocks instead of ops: what the search looks at.
#pragma once

#include <array>
#include <vector>

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"
#include "plan/time/item_cost.hpp"

namespace spillway {

// One block of one micro-batch under one policy.
struct PolicyCost {
  ItemCost backward;            // with what is made again
  std::int64_t kept_bytes = 0;  // on the device, from its forward to its backward pass
  std::int64_t away_bytes = 0;  // leave it, where all rows do
  // The most bytes alive during its passes, beside what blocks before it keep.
  std::int64_t forward_bytes = 0, backward_bytes = 0;
};

struct BlockCost {
  bool layer = false;
  ItemCost forward;
  PerPolicy<PolicyCost> policies;
  std::vector<int> chunks;  // whose gradients its backward ops make parts of
  std::vector<int> forward_chunks, backward_chunks;  // whose parameters its ops read
};

// A part of a chunk's gradient that is summed over micro-batches by itself: see GradientPart.
struct PartCost {
  int block = -1;  // whose backward pass makes it
  std::int64_t bytes = 0, scatter_sent_bytes = 0, gather_sent_bytes = 0;  // see ChunkCost
  bool fused = false;  // nothing is made in one micro-batch: its op adds to the chunk's gradient
  ItemCost accumulate, host_accumulate;
};

struct ChunkCost {
  bool trainable = true;                  // else it has neither gradient nor update
  int first_block = -1, last_block = -1;  // that make its gradient, parts of it among that
  int own_block = -1;                     // with which all but the parts is made
  IdVector<PartCost> parts;
  std::vector<int> readers;  // stations, in order; forward ones count from 0, backward ones follow
  std::int64_t elements = 0;
  bool whole_chunk = false;  // it is not cut into slices: Op::whole_chunk
  std::int64_t parameter_bytes = 0, gradient_bytes = 0;  // in use, and as a micro-batch makes it
  // What this rank holds of it, and changes: see sharding.hpp.
  std::int64_t home_bytes = 0, held_gradient_bytes = 0, optimizer_bytes = 0;
  double share = 1;
  // Sent to other ranks: for a fetch of parameters, after an update.
  std::int64_t fetch_sent_bytes = 0, update_sent_bytes = 0;
  // To and from those that sum up parts of its gradient.
  std::int64_t scatter_sent_bytes = 0, gather_sent_bytes = 0;
  bool reduces_each = false;  // its gradient is summed over ranks after every micro-batch
  ItemCost norm, update, accumulate, tree_sum;  // on the compute lane
  ItemCost host_norm, host_update, host_accumulate, host_tree_sum;
};

struct BlockModel {
  std::int64_t ranks = 1;     // that send what the chunks say: see sharding.hpp
  int last_layer = -1;        // a block
  bool reduces_each = false;  // gradients are summed over ranks after every micro-batch
  IdVector<BlockCost> blocks;
  IdVector<ChunkCost> chunks;
};

// `policies`: those that are wanted; the others' numbers stay zero. What ranks send: sharding.hpp.
BlockModel block_model(Graph const& graph, Machine const& machine,
                       std::vector<BlockPolicy> const& policies, std::int64_t ranks = 1);

}  // namespace spillway
