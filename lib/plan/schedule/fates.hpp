// What happens to every forward tensor between its last forward and its first backward use.
#pragma once

#include <vector>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Smaller tensors are not worth a transfer.
inline constexpr std::int64_t kSmallestSpillBytes = 16 * 1024;

struct Fates {
  IdVector<Fate> fate;  // per tensor; `keep` where nothing needs deciding
  // Per tensor: its first bytes that leave, whole pages of them where others stay.
  IdVector<std::int64_t> away_bytes;
  // Per tensor: the blocks whose backward pass reads it, ascending. Not empty: it is saved.
  IdVector<std::vector<int>> readers;
  // Per block: the forward ops that are run again before its backward ops, in order.
  IdVector<std::vector<int>> repeats;

  Fate of(TensorId tensor) const { return fate[tensor]; }
  bool saved(TensorId tensor) const { return !readers[tensor].empty(); }
  bool leaves(TensorId tensor) const {
    return of(tensor) == Fate::host || of(tensor) == Fate::nvme;
  }
};

// A tensor follows the policy of the block that reads it in backward; read by several, it is kept.
// What a block makes again are its own tensors; the others that this needs are saved.
// The Plan is normal.
Fates decide_fates(Graph const& graph, Plan const& plan);

// Per block, of one micro-batch: how much the forward pass saves for the backward pass, by what
// becomes of it. It belongs to the block whose backward pass reads it first.
using FateBytes = EnumArray<Fate, std::int64_t, kFates>;
std::vector<FateBytes> saved_bytes(Graph const& graph, Plan const& plan);

}  // namespace spillway
