// The updates of a step consist of pieces: whole chunks, or slices of those that must be brought.
#pragma once

#include <vector>

#include "plan/schedule/draft.hpp"

namespace spillway {

// A piece is one item of the update: a whole chunk, or a slice of one of which some operands must
// be brought.
struct UpdatePiece {
  int op = -1, chunk = -1;
  ElementRange range = {};
  Lane lane = Lane::compute;
  bool brings_gradient = false;
  std::vector<TensorId> brings =
      {};         // tensors that it updates and that lie out of the lane's reach
  int slot = -1;  // to which they are brought; -1 where all is within reach

  std::int64_t elements() const { return range.last - range.first; }
};

// Returns the pieces of these chunks' updates, in order. They take slots in turns.
std::vector<UpdatePiece> update_pieces(Draft& draft, std::vector<int> const& chunks);

// Returns the backward group after which a micro-batch's loss is known, 0 where the forward pass
// knows it.
std::size_t loss_group(Draft const& draft);
// Says for each backward group, and once more for what comes after the last, which chunks can be
// updated then: their gradient is complete, their parameters are not read any more, and the loss is
// known.
std::vector<std::vector<int>> chunks_by_group(Draft const& draft);

}  // namespace spillway
