#include "plan/schedule/forward.hpp"

#include <algorithm>

#include "plan/schedule/draft.hpp"
#include "plan/schedule/stream_parameters.hpp"

namespace spillway {

namespace {

// Per forward op: the tensors that leave the device and that no later forward op uses.
std::map<int, std::vector<TensorId>> spills_after(Graph const& graph, Fates const& fates) {
  std::map<TensorId, int> last_use;
  for (Op const& op : graph.ops) {
    if (op.phase != Phase::forward || op.elided) continue;
    for (auto const* views : {&op.inputs, &op.outputs}) {
      for (View const& view : present(*views)) {
        if (fates.leaves(view.tensor)) last_use[view.tensor] = op.id;
      }
    }
  }
  std::map<int, std::vector<TensorId>> result;
  for (auto const& [tensor, op] : last_use) result[op].push_back(tensor);
  return result;
}

void spill(Draft& draft, TensorId tensor, int block) {
  ProgramWriter& writer = draft.writer;
  Tier const tier = draft.fates.of(tensor) == Fate::host ? Tier::host : Tier::nvme;
  auto const bytes = draft.fates.away_bytes[static_cast<std::size_t>(tensor)];
  BufferId const away = writer.add_buffer(tensor, tier, bytes);
  writer.copy(writer.resident(tensor), away, block);
  draft.spilled[tensor] = away;
}

// What the op would add to the chunk's gradient it writes to the part instead.
void write_part(Op& op, GradientPart const& part) {
  View& view = op.outputs[static_cast<std::size_t>(part.output)];
  if (view.tensor == part.tensor) return;
  view.tensor = part.tensor;
  view.offset -= part.range.first;
  std::erase(op.in_place, part.output);
}

}  // namespace

std::optional<int> variant(Draft& draft, int op_id, bool first) {
  bool const several = draft.writer.program.micro_batches > 1;
  if (several && draft.adds.contains(op_id)) return {};
  auto const& original = draft.writer.program.ops[static_cast<std::size_t>(op_id)];
  auto const loss = draft.graph.known.loss;
  bool const tells_loss = loss >= 0 && writes(original, loss);
  bool const makes_parts = several && draft.parts.contains(op_id);
  if (!tells_loss && !makes_parts) return op_id;
  auto const [found, is_new] = draft.variants.try_emplace({op_id, first}, -1);
  if (!is_new) return found->second;
  Op op = original;
  if (tells_loss) set_in_place(op, loss, !first);
  auto const [part, end] = draft.parts.equal_range(op_id);
  if (makes_parts)
    std::for_each(part, end, [&](auto const& made) { write_part(op, *made.second); });
  return found->second = draft.writer.add_op(std::move(op));
}

void set_leaving_horizons(Program& program, ItemNumber first, BlockEnds const& ends, int step) {
  for (auto i = first; i < static_cast<ItemNumber>(program.items.size()); ++i) {
    Item& item = program.items[static_cast<std::size_t>(i)];
    auto const next = item.block < 0 ? ends.end() : ends.find(item.block + step);
    bool const leaves = item.lane == Lane::nvme_write || item.lane == Lane::d2h;
    if (leaves && next != ends.end()) item.horizon = std::max(item.number, next->second);
  }
}

void schedule_forward(Draft& draft, bool first) {
  auto const spills = spills_after(draft.graph, draft.fates);
  ItemNumber const begin = draft.writer.next();
  BlockEnds ends;
  for (Block const& block : draft.graph.blocks) {
    enter_station(draft);
    for (int id = block.first_op; id < block.last_op; ++id) {
      Op const& op = draft.graph.ops[static_cast<std::size_t>(id)];
      if (op.elided) continue;
      ends[op.block] = draft.writer.run(*variant(draft, id, first));
      auto const done = spills.find(id);
      if (done == spills.end()) continue;
      for (TensorId const tensor : done->second) spill(draft, tensor, op.block);
    }
    leave_station(draft);
  }
  set_leaving_horizons(draft.writer.program, begin, ends, 1);
}

}  // namespace spillway
