// The updates of a step consist of pieces: whole chunks or, if operands must be brought, slices.
#pragma once

#include <vector>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// A piece is one item of the update: a whole chunk or, if operands must be brought, a slice.
struct UpdatePiece {
  int op = -1, chunk = -1;
  ElementRange range = {};
  Lane lane = Lane::compute;
  bool brings_gradient = false;
  std::vector<TensorId> brings = {};  // updated tensors that the lane cannot reach
  int slot = -1;                      // the slot that they are brought to, -1 if none is needed

  std::int64_t elements() const { return range.last - range.first; }
};

// Returns the pieces of these chunks' updates, in order. The pieces use slots in turn.
IdVector<UpdatePiece> update_pieces(Graph const& graph, Plan const& plan,
                                    std::vector<int> const& chunks);

}  // namespace spillway
