// A BlockModel describes a training step by blocks instead of ops: the search looks only at it.
#pragma once

#include <vector>

#include "plan/search/policy_costs.hpp"

namespace spillway {

struct BlockCost {
  bool layer = false;
  ItemCost forward;
  PerPolicy<PolicyCost> policies;
  std::vector<int> chunks;  // its ops make their gradients, or parts of them
  std::vector<int> forward_chunks, backward_chunks;  // its ops read their parameters
};

// An op costs this on either lane that may run it.
struct LaneCosts {
  ItemCost compute, host;
  ItemCost const& on(Lane lane) const { return lane == Lane::host ? host : compute; }
};

// A gradient is summed over micro-batches and ranks: a chunk's own, or a part of one.
struct GradientCost {
  std::int64_t bytes = 0;  // as a micro-batch makes it
  // A rank sends so much of it to the ranks that sum it up, and so much of its own sum to all.
  std::int64_t scatter_sent_bytes = 0, gather_sent_bytes = 0;
  LaneCosts accumulate, tree_sum;
};

// A part of a chunk's gradient is summed over micro-batches by itself: see GradientPart.
struct PartCost : GradientCost {
  int block = -1;      // its backward pass makes the part
  bool fused = false;  // if there is one micro-batch, its op adds to the chunk's gradient instead
};

struct ChunkCost {
  bool trainable = true;                  // else it has neither gradient nor update
  int first_block = -1, last_block = -1;  // that make its gradient or parts of it
  int own_block = -1;                     // makes all of its gradient but the parts
  IdVector<PartCost> parts;
  std::vector<int> readers;  // stations, in order; forward ones count from 0, backward ones follow
  std::int64_t elements = 0;
  bool whole_chunk = false;          // it is not cut into slices: Op::whole_chunk
  std::int64_t parameter_bytes = 0;  // while ops use it
  // This rank holds so much of it, and updates this share: see sharding.hpp.
  std::int64_t home_bytes = 0, held_gradient_bytes = 0, optimizer_bytes = 0;
  double share = 1;
  std::int64_t fetch_sent_bytes = 0;   // to other ranks, when parameters are fetched
  std::int64_t update_sent_bytes = 0;  // to other ranks, after an update
  bool reduces_each = false;           // its gradient is summed over ranks after every micro-batch
  GradientCost gradient;
  LaneCosts norm, update;
};

struct BlockModel {
  std::int64_t ranks = 1;
  int last_layer = -1;        // a block
  bool reduces_each = false;  // gradients are summed over ranks after every micro-batch
  IdVector<BlockCost> blocks;
  IdVector<ChunkCost> chunks;
  std::vector<int> trained;  // chunks
};

// Costs of policies other than `policies` stay zero. `apply` of sharding.hpp then says what ranks
// send.
BlockModel block_model(Graph const& graph, Machine const& machine,
                       std::vector<BlockPolicy> const& policies, std::int64_t ranks = 1);

}  // namespace spillway
