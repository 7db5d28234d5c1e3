// StepWork lists what any plan of a training step must do, and what it may do in several ways.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.hpp"
#include "plan/bound/busy.hpp"

namespace spillway {

// A ForwardOp is an op whose result the backward pass may have made again. `needs` are the places,
// among the ops of its block, of the ops whose results it reads.
struct ForwardOp {
  int place = 0;  // where it is among all ops of its block
  Busy again{};
  // These count bytes of its results that the backward pass reads, and of those that only other ops
  // read.
  std::int64_t saved_bytes = 0, passed_bytes = 0;
  std::vector<int> needs;
  bool operator==(ForwardOp const&) const = default;
};
using ForwardOps = std::vector<ForwardOp>;

// The SavedKind stands for all blocks with such ops.
struct SavedKind {
  ForwardOps ops;
  std::vector<int> blocks;
};

struct PassWork {
  Busy forward{}, backward{};
};

// On either lane, a rank of several does only its part of these ops.
struct LaneWork {
  Busy compute{}, host{};
  bool operator==(LaneWork const&) const = default;
};

struct ChunkWork {
  int first_block = 0;  // the first block that reads the chunk
  bool trainable = true;
  // These say whether the chunk is read before the turn (see StepWork), at it, and in the backward
  // pass.
  bool read_before_turn = true, read_at_turn = false, read_backward = false;
  std::int64_t parameter_bytes = 0, state_bytes = 0, gradient_bytes = 0;
  LaneWork update, norm, accumulate, tree_sum;
  bool operator==(ChunkWork const&) const = default;
};

// The turn of a micro-batch is the op behind the forward pass, and before the backward pass, of all
// layers and of what lies before them, that needs most bytes besides what those save.
struct StepWork {
  int last_layer = -1;           // the block number of the last layer
  std::vector<PassWork> blocks;  // what blocks behind the last layer do is empty here
  Busy before_turn{}, at_turn{}, after_turn{};  // what blocks behind the last layer do
  std::int64_t turn_bytes = 0;
  // This is true if the step's first op reads what the step before has updated.
  bool begins_with_trained = false;
  std::vector<SavedKind> saved;
  std::vector<ChunkWork> chunks;
};

StepWork step_work(Graph const& graph, Machine const& machine, std::int64_t micro_batches,
                   std::int64_t ranks);

}  // namespace spillway
