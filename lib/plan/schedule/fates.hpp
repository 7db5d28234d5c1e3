// A fate says what happens to a tensor between its last forward and its first backward use.
#pragma once

#include <vector>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Smaller tensors are not worth a transfer.
inline constexpr std::int64_t kSmallestSpillBytes = 16 * 1024;

struct Fates {
  IdVector<Fate> fate;  // per tensor; `keep` where nothing needs deciding
  // Of each tensor so many first bytes leave the device: whole pages where the rest stays.
  IdVector<std::int64_t> away_bytes;
  // For each tensor the blocks whose backward pass reads it, ascending; a tensor that has some is
  // saved.
  IdVector<std::vector<int>> readers;
  // For each block the forward ops that are run again before its backward ops, in order.
  IdVector<std::vector<int>> repeats;

  Fate of(TensorId tensor) const { return fate[tensor]; }
  bool saved(TensorId tensor) const { return !readers[tensor].empty(); }
  bool leaves(TensorId tensor) const {
    return of(tensor) == Fate::host || of(tensor) == Fate::nvme;
  }
};

// A tensor follows the policy of the block whose backward pass reads it; what several blocks read
// is kept. A block makes its own tensors again; the others that it needs for that are saved. The
// Plan must be normal.
Fates decide_fates(Graph const& graph, Plan const& plan);

// Says for each block how many bytes one micro-batch's forward pass saves, by what becomes of them.
// Bytes belong to the block whose backward pass reads them first.
using FateBytes = EnumArray<Fate, std::int64_t, kFates>;
std::vector<FateBytes> saved_bytes(Graph const& graph, Plan const& plan);

}  // namespace spillway
