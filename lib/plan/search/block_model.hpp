// A BlockModel describes a training step by blocks instead of ops. The search uses nothing else.
#pragma once

#include <vector>

#include "plan/search/policy_costs.hpp"

namespace spillway {

struct BlockCost {
  bool layer = false;
  ItemCost forward;
  PerPolicy<PolicyCost> policies;
  std::vector<int> chunks;  // chunks whose gradients, or parts of them, its ops make
  std::vector<int> forward_chunks, backward_chunks;  // chunks whose parameters its ops read
};

// An op has these costs on the two lanes that may run it.
struct LaneCosts {
  ItemCost compute, host;
  ItemCost const& on(Lane lane) const { return lane == Lane::host ? host : compute; }
};

// These are the costs to sum a chunk's gradient, or a part of one, over micro-batches and ranks.
struct GradientCost {
  std::int64_t bytes = 0;  // the gradient's size in one micro-batch
  // A rank sends this many bytes to the ranks that sum them, and this many of its own sum to all.
  std::int64_t scatter_sent_bytes = 0, gather_sent_bytes = 0;
  LaneCosts accumulate, tree_sum;
};

// A part of a chunk's gradient is summed over micro-batches separately (see GradientPart).
struct PartCost : GradientCost {
  int block = -1;      // the block whose backward pass makes the part
  bool fused = false;  // true if, in the only micro-batch, the op that makes the part also adds it
};

struct ChunkCost {
  bool trainable = true;                  // if false, it has neither gradient nor update
  int first_block = -1, last_block = -1;  // blocks that make the chunk's gradient
  int own_block = -1;                     // the block that makes the gradient without its parts
  IdVector<PartCost> parts;
  std::vector<int> readers;  // stations in order; forward ones count from 0, backward ones follow
  std::int64_t elements = 0;
  bool whole_chunk = false;          // its update cannot be cut into slices
  std::int64_t parameter_bytes = 0;  // bytes of its parameters while ops use them
  // This rank holds these bytes of the chunk and updates this share of it (see sharding.hpp).
  std::int64_t home_bytes = 0, held_gradient_bytes = 0, optimizer_bytes = 0;
  double share = 1;
  std::int64_t fetch_sent_bytes = 0;   // sent to other ranks when parameters are fetched
  std::int64_t update_sent_bytes = 0;  // sent to other ranks after an update
  bool reduces_each = false;           // true if ranks sum its gradient after every micro-batch
  GradientCost gradient;
  LaneCosts norm, update;
};

struct BlockModel {
  std::int64_t ranks = 1;
  int last_layer = -1;        // the block number of the last layer
  bool reduces_each = false;  // true if ranks sum gradients after every micro-batch
  IdVector<BlockCost> blocks;
  IdVector<ChunkCost> chunks;
  std::vector<int> trained;  // the chunks that are trained
};

// Describes the graph. Costs are known only for `policies`, and are zero for all other policies. To
// add what ranks send, call `apply` of sharding.hpp.
BlockModel block_model(Graph const& graph, Machine const& machine,
                       std::vector<BlockPolicy> const& policies, std::int64_t ranks = 1);

}  // namespace spillway
