#include "plan/schedule/update_pieces.hpp"

#include <algorithm>

#include "graph/sharing.hpp"
#include "plan/schedule/residence.hpp"
#include "plan/schedule/streaming.hpp"

namespace spillway {

namespace {

UpdatePiece whole_piece(Graph const& graph, Op const& op, Plan const& plan,
                        IdVector<Tier> const& homes) {
  auto const& places = plan.chunks[op.chunk];
  UpdatePiece piece{.op = op.id, .chunk = op.chunk, .lane = op_lane(places.update)};
  piece.of_slice = places.shard != Shard::none;
  auto const out_of_reach = [&](TensorId tensor) {
    bool const is_slice = piece.of_slice && tensor == graph.chunks[op.chunk].parameter;
    auto const tier = is_slice ? parameter_slice_tier(places) : homes[tensor];
    return !reaches(piece.lane, tier, plan.unified);
  };
  piece.brings_gradient = out_of_reach(op.inputs.front().tensor);
  for (View const& view : present(op.outputs)) {
    if (out_of_reach(view.tensor)) piece.brings.push_back(view.tensor);
  }
  return piece;
}

}  // namespace

IdVector<UpdatePiece> update_pieces(Graph const& graph, Plan const& plan, std::int64_t ranks,
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
    auto piece = whole_piece(graph, op, plan, homes);
    bool const uses_slots = piece.brings_gradient || !piece.brings.empty();
    auto const all = graph.chunks[chunk].elements;
    auto const elements =
        piece.of_slice ? Sharing{ranks, sharers_of(plan, ranks)}.kept(all, 0).count : all;
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
