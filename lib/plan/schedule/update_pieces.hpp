// The updates of a step consist of pieces: whole chunks or, if operands must be brought, slices.
#pragma once

#include <vector>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// An UpdatePiece is what one item updates: a whole chunk or, if operands must be brought, a slice.
struct UpdatePiece {
  int op = -1, chunk = -1;
  ElementRange range = {};
  Lane lane = Lane::compute;
  bool brings_gradient = false;
  std::vector<TensorId> brings = {};  // lists updated tensors that the lane cannot reach
  int slot = -1;                      // numbers the slot for brought operands; -1 means no slot
  bool of_slice = false;              // whether `range` is a part of the slice that each rank keeps

  std::int64_t elements() const { return range.last - range.first; }
};

// Returns the pieces of the updates of `chunks` in order. Pieces that need slots use them in turn.
IdVector<UpdatePiece> update_pieces(Graph const& graph, Plan const& plan, std::int64_t ranks,
                                    std::vector<int> const& chunks);

}  // namespace spillway
