#include <set>
#include <utility>

#include "plan/updates.hpp"

namespace spillway {

namespace {

// Into a buffer of its own, or, where a part stayed, into the hole that the rest has left.
void reload(Draft& draft, TensorId tensor) {
  ProgramWriter& writer = draft.writer;
  int const block = draft.fates.readers[static_cast<std::size_t>(tensor)].front();
  BufferId const away = draft.spilled.at(tensor);
  bool const whole = writer.buffer(away).bytes == writer.tensor(tensor).bytes();
  BufferId const back = whole ? writer.add_buffer(tensor, Tier::device) : writer.resident(tensor);
  writer.copy(away, back, block);
  writer.set_resident(tensor, back);
}

void reload_before(Draft& draft, int op) {
  auto const found = draft.reloads.find(op);
  if (found == draft.reloads.end()) return;
  for (TensorId const tensor : found->second) reload(draft, tensor);
}

// Into new buffers: those of the forward pass are long free.
void repeat_forward_ops(Draft& draft, int block) {
  auto const& repeats = draft.fates.repeats[static_cast<std::size_t>(block)];
  for (int const op : repeats) {
    for (View const& view : present(draft.graph.ops[static_cast<std::size_t>(op)].outputs))
      draft.writer.forget(view.tensor);
  }
  for (int const op : repeats) draft.writer.run(op);
}

// Per backward op: the chunks whose gradients it is the last to contribute to.
std::map<int, std::vector<int>> last_contributions(Graph const& graph) {
  std::map<int, int> last;  // per chunk
  for (Op const& op : graph.ops) {
    if (op.phase != Phase::backward) continue;
    for (View const& view : present(op.outputs)) {
      Tensor const& tensor = graph.tensor(view);
      if (tensor.role == Role::gradient) last[tensor.chunk] = op.id;
    }
  }
  std::map<int, std::vector<int>> result;
  for (auto const& [chunk, op] : last) result[op].push_back(chunk);
  return result;
}

}  // namespace

std::vector<BackwardGroup> backward_groups(Graph const& graph) {
  std::vector<BackwardGroup> groups;
  for (Op const& op : graph.ops) {
    if (op.phase != Phase::backward) continue;
    if (groups.empty() || groups.back().block != op.block) groups.push_back({op.block, {}});
    groups.back().ops.push_back(op.id);
  }
  return groups;
}

Reloads reload_on_demand(Graph const& graph, Fates const& fates) {
  Reloads reloads;
  std::set<TensorId> seen;
  for (BackwardGroup const& group : backward_groups(graph)) {
    for (auto const* ops : {&fates.repeats[static_cast<std::size_t>(group.block)], &group.ops}) {
      for (int const id : *ops) {
        for (View const& view : present(graph.ops[static_cast<std::size_t>(id)].inputs)) {
          if (!fates.leaves(view.tensor) || !seen.insert(view.tensor).second) continue;
          reloads[group.ops.front()].push_back(view.tensor);
        }
      }
    }
  }
  return reloads;
}

void schedule_backward(Draft& draft, MicroBatch const& micro_batch, Updates* updates) {
  auto const complete = last_contributions(draft.graph);
  if (!micro_batch.first) {
    for (Chunk const& chunk : draft.graph.chunks) draft.writer.forget(chunk.gradient);
  }
  ItemNumber const begin = draft.writer.next();
  BlockEnds ends;
  auto& starts = draft.op_starts.emplace_back();
  for (std::size_t number = 0; number < draft.groups.size(); ++number) {
    auto const& group = draft.groups[number];
    auto const begun_earlier = draft.reductions.size();
    bool begins = true;
    for (int const op : group.ops) {
      starts.push_back(draft.writer.next());
      if (begins) enter_station(draft);
      reload_before(draft, op);
      if (std::exchange(begins, false)) repeat_forward_ops(draft, group.block);
      ends[group.block] = draft.writer.run(variant(draft, op, micro_batch.first));
      auto const chunks = complete.find(op);
      if (chunks == complete.end()) continue;
      for (int const chunk : chunks->second) finish_gradient(draft, chunk, micro_batch);
    }
    finish_reductions(draft, begun_earlier);
    leave_station(draft);
    if (updates) updates->after_group(number);
  }
  finish_reductions(draft, draft.reductions.size());
  if (updates) updates->after_group(draft.groups.size());
  set_leaving_horizons(draft.writer.program, begin, ends, -1);
}

}  // namespace spillway
