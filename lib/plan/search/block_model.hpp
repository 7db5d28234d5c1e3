// A BlockModel describes a training step by blocks instead of ops, so that estimates are fast.
#pragma once

#include <vector>

#include "graph/graph.hpp"
#include "graph/sharing.hpp"
#include "plan/data/plan.hpp"
#include "plan/time/item_cost.hpp"

namespace spillway {

// A PolicyCost says what one block costs in a micro-batch if all blocks have the same policy.
struct PolicyCost {
  ItemCost backward;            // cost of the backward ops and of the forward ops that run again
  std::int64_t kept_bytes = 0;  // activations that stay on the device until the backward pass
  std::int64_t away_bytes = 0;  // activations that leave the device if they leave whole
  // At its peak, a pass of the block needs this many bytes besides what earlier blocks keep.
  std::int64_t forward_bytes = 0, backward_bytes = 0;
};
// Returns the PolicyCost of each block. `costs` holds the cost of each op on the compute lane.
IdVector<PolicyCost> policy_costs(Graph const& graph, BlockPolicy policy,
                                  IdVector<ItemCost> const& costs);
// Sets `sum` to the cost of running `sum` and then `cost`. Demands are averages over that time.
void add(ItemCost& sum, ItemCost const& cost);

struct BlockCost {
  bool layer = false;
  ItemCost forward;
  PerPolicy<PolicyCost> policies;
  std::vector<int> chunks;  // chunks whose gradients the block makes or adds to
  std::vector<int> forward_chunks, backward_chunks;  // chunks whose parameters the pass reads
};

// LaneCosts says what one op costs on the compute lane and what it costs on the host lane.
struct LaneCosts {
  ItemCost compute, host;
  ItemCost const& on(Lane lane) const { return lane == Lane::host ? host : compute; }
};

// A GradientCost says what it costs to sum a gradient, or a part, over micro-batches and ranks.
struct GradientCost {
  std::int64_t bytes = 0;  // the size of one micro-batch's gradient
  // Each rank sends scatter_sent_bytes for others to sum, then gather_sent_bytes of its own sums.
  std::int64_t scatter_sent_bytes = 0, gather_sent_bytes = 0;
  LaneCosts accumulate, tree_sum;
};

// A PartCost is the cost of a GradientPart, which is summed over micro-batches by itself.
struct PartCost : GradientCost {
  int block = -1;      // the block whose backward pass makes the part
  bool fused = false;  // true if the op that makes the part adds it to the gradient
};

struct ChunkCost {
  bool trainable = true;                  // if false, the chunk has neither gradient nor update
  int first_block = -1, last_block = -1;  // the first and the last block that use the chunk
  int own_block = -1;                     // the block that makes the gradient, except for its parts
  IdVector<PartCost> parts;
  std::vector<int> readers;  // the numbers of the stations that read the parameters, in order
  std::int64_t elements = 0;
  bool whole_chunk = false;          // true if the chunk's update cannot be cut into slices
  std::int64_t parameter_bytes = 0;  // size of the chunk's parameters while ops use them
  // Each rank keeps this many bytes of the chunk, and updates this share of the chunk's elements.
  std::int64_t home_bytes = 0, held_gradient_bytes = 0, optimizer_bytes = 0;
  std::int64_t scale_bytes = 0;  // of states with an element for each block, where updates run
  std::int64_t gradient_slice_bytes = 0;  // the rank's sums, which wait for the update
  // What of `optimizer_bytes` is the slice of parameters that all ranks keep whole besides.
  std::int64_t parameters_beside_bytes = 0;
  double share = 1;
  Sharing sharing = {};
  std::int64_t fetch_sent_bytes = 0;   // bytes that a rank sends when parameters are fetched
  std::int64_t update_sent_bytes = 0;  // bytes that a rank sends after an update
  GradientCost gradient;
  LaneCosts norm, update;
  std::int64_t update_workspace_bytes = 0;
};

using PerShard = EnumArray<Shard, IdVector<ChunkCost>, kShards.size()>;

// A SharedCosts holds the costs of all chunks for each way to share them out, if `sharers` ranks
// keep a copy together.
struct SharedCosts {
  std::int64_t sharers = 1;
  PerShard chunks;
};

struct BlockModel {
  std::int64_t ranks = 1;
  int last_layer = -1;        // the block number of the last layer
  bool reduces_each = false;  // true if ranks sum gradients after every micro-batch
  IdVector<BlockCost> blocks;
  IdVector<ChunkCost> chunks;       // costs where ranks share out nothing
  std::vector<SharedCosts> shared;  // set by share_out (sharding.hpp)
  std::vector<int> trained;         // the numbers of the chunks that are trained

  // Returns the costs for plans with this Plan::sharers, which `shared` must have.
  PerShard const& shared_by(std::int64_t sharers) const;
};

// Makes the BlockModel of a graph. The costs of policies that are not in `policies` are zero. Plans
// may have any of these numbers of sharers; if there is none, all ranks share out.
BlockModel block_model(Graph const& graph, Machine const& machine,
                       std::vector<BlockPolicy> const& policies, std::int64_t ranks = 1,
                       std::vector<std::int64_t> const& sharers = {});

}  // namespace spillway
