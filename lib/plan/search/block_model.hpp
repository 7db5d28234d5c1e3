// A BlockModel describes a training step by blocks instead of ops. The search uses nothing else.
#pragma once

#include <vector>

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"
#include "plan/time/item_cost.hpp"

namespace spillway {

// These are the costs of one block in one micro-batch if all blocks follow the same policy.
struct PolicyCost {
  ItemCost backward;            // includes the ops that run again
  std::int64_t kept_bytes = 0;  // activations that stay on the device between both passes
  std::int64_t away_bytes = 0;  // activations that leave if the Plan's fraction is 1
  // These are the most bytes alive in the block's passes, without what earlier blocks keep.
  std::int64_t forward_bytes = 0, backward_bytes = 0;
};
// Returns the costs of each block. `costs` are those of the graph's ops on the compute lane.
IdVector<PolicyCost> policy_costs(Graph const& graph, BlockPolicy policy,
                                  IdVector<ItemCost> const& costs);
// Adds `cost` to `sum` if both run in turn. The demands become averages over the total time.
void add(ItemCost& sum, ItemCost const& cost);

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
