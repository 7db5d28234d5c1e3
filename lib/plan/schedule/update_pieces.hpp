// The updates of a step consist of pieces: whole chunks or, if operands must be brought, slices.
#pragma once

#include <vector>

#include "plan/schedule/draft.hpp"

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
std::vector<UpdatePiece> update_pieces(Draft& draft, std::vector<int> const& chunks);

// Returns the backward group after which a micro-batch's loss is known, or 0 if the forward pass
// computes the loss.
std::size_t loss_group(Draft const& draft);
// Returns for each backward group the chunks that can be updated after it: their gradient is
// complete, nothing reads their parameters any more, and the loss is known. A last entry is for the
// chunks that must wait for all groups.
std::vector<std::vector<int>> chunks_by_group(Draft const& draft);

}  // namespace spillway
