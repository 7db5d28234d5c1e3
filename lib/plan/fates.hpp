// What happens to every forward tensor between its last forward and its first backward use.
#pragma once

#include <vector>

#include "plan/plan.hpp"
#include "plan/program.hpp"

namespace spillway {

// Smaller tensors are not worth a transfer.
inline constexpr std::int64_t kSmallestSpillBytes = 16 * 1024;

struct Fates {
  std::vector<Fate> fate;  // per tensor; `keep` where nothing needs deciding
  // Per tensor: the blocks whose backward pass reads it, ascending. Not empty: it is saved.
  std::vector<std::vector<int>> readers;

  Fate of(TensorId tensor) const { return fate[static_cast<std::size_t>(tensor)]; }
  bool saved(TensorId tensor) const { return !readers[static_cast<std::size_t>(tensor)].empty(); }
};

// What a block's policy amounts to: only layers leave `keep`, and the last layer is not spilled,
// because its reload would start before its write ends.
BlockPolicy effective_policy(Graph const& graph, Plan const& plan, int block);

// A tensor follows the policy of the block that reads it in backward; read by several, it is kept.
// A recomputed block's inputs are kept, its own tensors are made again.
Fates decide_fates(Graph const& graph, Plan const& plan);

}  // namespace spillway
