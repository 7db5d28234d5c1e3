#include "plan/schedule/update_pieces.hpp"

#include <algorithm>

#include "plan/schedule/residence.hpp"
#include "plan/schedule/streaming.hpp"

namespace spillway {

namespace {

UpdatePiece whole_piece(Op const& op, Plan const& plan, IdVector<Tier> const& homes) {
  auto const lane = op_lane(plan.chunks[op.chunk].update);
  UpdatePiece piece{.op = op.id, .chunk = op.chunk, .lane = lane};
  auto const out_of_reach = [&](TensorId tensor) {
    return !reaches(piece.lane, homes[tensor], plan.unified);
  };
  piece.brings_gradient = out_of_reach(op.inputs.front().tensor);
  for (View const& view : present(op.outputs)) {
    if (out_of_reach(view.tensor)) piece.brings.push_back(view.tensor);
  }
  return piece;
}

}  // namespace

IdVector<UpdatePiece> update_pieces(Graph const& graph, Plan const& plan,
                                    std::vector<int> const& chunks) {
  auto const homes = home_tiers(graph, plan);
  IdVector<Op const*> updates(graph.chunks.size());  // points to each chunk's update op
  for (Op const& op : graph.ops) {
    if (op.phase == Phase::update) updates[op.chunk] = &op;
  }
  IdVector<UpdatePiece> pieces;
  int brought = 0;
  for (int const chunk : chunks) {
    Op const& op = *updates[chunk];
    auto piece = whole_piece(op, plan, homes);
    bool const uses_slots = piece.brings_gradient || !piece.brings.empty();
    auto const elements = graph.chunks[chunk].elements;
    auto const most =
        uses_slots ? slice_elements(elements, op.whole_chunk, plan.update_slice) : elements;
    for (std::int64_t first = 0; first < elements; first += most) {
      piece.range = {first, std::min(first + most, elements)};
      if (uses_slots) piece.slot = brought++ % kUpdateSlots;
      pieces.push_back(piece);
    }
  }
  return pieces;
}

}  // namespace spillway
