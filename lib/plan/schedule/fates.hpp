// A fate says what happens to a tensor between its last forward and its first backward use.
#pragma once

#include <vector>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// A tensor smaller than this is not spilled, because the transfer would free too little memory.
inline constexpr std::int64_t kSmallestSpillBytes = 16 * 1024;

struct Fates {
  IdVector<Fate> fate;  // holds each tensor's fate, which is `keep` unless a policy changes it
  // Says how many bytes at each tensor's end leave the device: none, all, or all but some pages.
  // Another tensor of the size can then begin where the end that left has been (see
  // memory/layout.cpp).
  IdVector<std::int64_t> away_bytes;
  // Lists for each tensor, in order, the blocks whose backward pass reads the tensor.
  IdVector<std::vector<int>> readers;
  // Lists for each block, in order, the forward ops that run again before the backward ops.
  IdVector<std::vector<int>> repeats;

  Fate of(TensorId tensor) const { return fate[tensor]; }
  bool saved(TensorId tensor) const { return !readers[tensor].empty(); }
  bool leaves(TensorId tensor) const {
    return of(tensor) == Fate::host || of(tensor) == Fate::nvme;
  }
};

// Decides the fate of every tensor. If only one block's backward pass reads a tensor, the policy of
// that block decides; if several do, the tensor is kept. A tensor that is needed to make another
// tensor again counts as read. The Plan must be normal.
Fates decide_fates(Graph const& graph, Plan const& plan);

// Lists the ops of each station: the forward ops of every block and then, for every group, the
// forward ops that run again and the backward ops. Ops that are marked as elided are left out.
IdVector<std::vector<int>> ops_of_stations(Graph const& graph, Fates const& fates);

// Returns for each block and fate how many bytes of activations the backward pass of a micro-batch
// reads. If several blocks read an activation, it counts for the last of these blocks.
using FateBytes = EnumArray<Fate, std::int64_t, kFates>;
std::vector<FateBytes> saved_bytes(Graph const& graph, Plan const& plan);

}  // namespace spillway
