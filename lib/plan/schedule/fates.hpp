// A fate says what happens to a tensor between its last forward and its first backward use.
#pragma once

#include <vector>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// A tensor with fewer bytes is not spilled, since the transfer is not worth its time.
inline constexpr std::int64_t kSmallestSpillBytes = 16 * 1024;

struct Fates {
  IdVector<Fate> fate;  // per tensor; `keep` if there is nothing to decide
  // Says how many of each tensor's first bytes leave the device: whole pages if the rest stays.
  IdVector<std::int64_t> away_bytes;
  // Lists in order the blocks whose backward pass reads a tensor. A tensor with readers is saved.
  IdVector<std::vector<int>> readers;
  // Lists for each block the forward ops that run again before its backward ops, in order.
  IdVector<std::vector<int>> repeats;

  Fate of(TensorId tensor) const { return fate[tensor]; }
  bool saved(TensorId tensor) const { return !readers[tensor].empty(); }
  bool leaves(TensorId tensor) const {
    return of(tensor) == Fate::host || of(tensor) == Fate::nvme;
  }
};

// Decides the fate of every tensor. A tensor follows the policy of the block whose backward pass
// reads it, and is kept if several blocks read it. A block makes only its own tensors again; other
// tensors that it needs for this are saved. The Plan must be normal.
Fates decide_fates(Graph const& graph, Plan const& plan);

// Lists the ops of all stations (see tell_step.hpp): of every block the forward ops, then of every
// backward group the ops that run again and its own. Elided ops do not run.
IdVector<std::vector<int>> ops_of_stations(Graph const& graph, Fates const& fates);

// Returns for each block and fate how many bytes one micro-batch's forward pass saves. A tensor
// counts for the block whose backward pass reads it first.
using FateBytes = EnumArray<Fate, std::int64_t, kFates>;
std::vector<FateBytes> saved_bytes(Graph const& graph, Plan const& plan);

}  // namespace spillway
