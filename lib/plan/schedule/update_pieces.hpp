// What the updates of a step consist of: whole chunks, or slices of those that must be brought.
#pragma once

#include <vector>

#include "plan/schedule/draft.hpp"

namespace spillway {

// One item of the update: a whole chunk, or a slice of one of which some operands must be brought.
struct UpdatePiece {
  int op = -1, chunk = -1;
  ElementRange range = {};
  Lane lane = Lane::compute;
  bool brings_gradient = false;
  std::vector<TensorId> brings = {};  // what is updated in place and lies out of the lane's reach
  int slot = -1;                      // where to; -1: all is within reach

  std::int64_t elements() const { return range.last - range.first; }
};

// Slots are taken in turns.
std::vector<UpdatePiece> update_pieces(Draft& draft, std::vector<int> const& chunks);

// The backward group after which a micro-batch's loss is known; 0 where the forward pass knows it.
std::size_t loss_group(Draft const& draft);
// By backward group, and one more for what is complete after the last: the chunks of which, at its
// end, the gradient is complete, the parameters are not read any more and the loss is known.
std::vector<std::vector<int>> chunks_by_group(Draft const& draft);

}  // namespace spillway
