#include "plan/schedule/update_pieces.hpp"

#include <algorithm>

#include "plan/schedule/streaming.hpp"

namespace spillway {

namespace {

UpdatePiece whole_piece(Draft& draft, Op const& op) {
  bool const on_host = draft.plan.chunks[op.chunk].update == Tier::host;
  UpdatePiece piece{.op = op.id, .chunk = op.chunk, .lane = on_host ? Lane::host : Lane::compute};
  auto const out_of_reach = [&](TensorId tensor) {
    return !draft.writer.reaches(piece.lane, draft.writer.home(tensor));
  };
  piece.brings_gradient = out_of_reach(op.inputs.front().tensor);
  for (View const& view : present(op.outputs)) {
    if (out_of_reach(view.tensor)) piece.brings.push_back(view.tensor);
  }
  return piece;
}

}  // namespace

std::vector<UpdatePiece> update_pieces(Draft& draft, std::vector<int> const& chunks) {
  std::map<int, Op const*> updates;  // each chunk's update op
  for (Op const& op : draft.graph.ops) {
    if (op.phase == Phase::update) updates[op.chunk] = &op;
  }
  std::vector<UpdatePiece> pieces;
  int brought = 0;
  for (int const chunk : chunks) {
    Op const& op = *updates.at(chunk);
    auto piece = whole_piece(draft, op);
    bool const uses_slots = piece.brings_gradient || !piece.brings.empty();
    auto const elements = draft.graph.chunks[chunk].elements;
    auto const most =
        uses_slots ? slice_elements(elements, op.whole_chunk, draft.plan.update_slice) : elements;
    for (std::int64_t first = 0; first < elements; first += most) {
      piece.range = {first, std::min(first + most, elements)};
      if (uses_slots) piece.slot = brought++ % kUpdateSlots;
      pieces.push_back(piece);
    }
  }
  return pieces;
}

std::size_t loss_group(Draft const& draft) {
  auto const tells_loss = [&](int id) {
    return writes(draft.graph.ops[id], draft.graph.known.loss);
  };
  auto const found = std::ranges::find_if(draft.groups, [&](BackwardGroup const& group) {
    return std::ranges::any_of(group.ops, tells_loss);
  });
  return found == draft.groups.end() ? 0 : static_cast<std::size_t>(found - draft.groups.begin());
}

std::vector<std::vector<int>> chunks_by_group(Draft const& draft) {
  std::size_t const groups = draft.groups.size();
  std::vector<std::size_t> ready(draft.graph.chunks.size(), loss_group(draft));
  auto const use = [&](View const& view, std::size_t group) {
    Tensor const& tensor = draft.graph.tensor(view);
    if (tensor.chunk < 0) return;
    auto const chunk = static_cast<std::size_t>(tensor.chunk);
    bool const is_gradient = tensor.role == Role::gradient;
    auto const later = groups_until_updated(is_gradient && draft.writer.program.ranks > 1);
    auto const after = group + static_cast<std::size_t>(later);
    ready[chunk] = std::max(ready[chunk], std::min(after, groups));
  };
  for (std::size_t group = 0; group < groups; ++group) {
    auto const block = static_cast<std::size_t>(draft.groups[group].block);
    for (auto const* ops : {&draft.fates.repeats[block], &draft.groups[group].ops}) {
      for (int const id : *ops) {
        Op const& op = draft.graph.ops[id];
        for (View const& view : present(op.inputs)) use(view, group);
        for (View const& view : present(op.outputs)) use(view, group);
      }
    }
  }
  std::vector<std::vector<int>> result(groups + 1);
  for (Chunk const& chunk : draft.graph.chunks) {
    if (chunk.trainable) result[ready[chunk.id]].push_back(chunk.id);
  }
  return result;
}

}  // namespace spillway
