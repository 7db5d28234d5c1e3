#include <algorithm>
#include <cassert>
#include <set>

#include "plan/draft.hpp"

namespace spillway {

namespace {

void reload(Draft& draft, TensorId tensor) {
  ProgramWriter& writer = draft.writer;
  int const block = draft.fates.readers[static_cast<std::size_t>(tensor)].front();
  BufferId const back = writer.add_buffer(tensor, Tier::device);
  writer.copy(draft.spilled.at(tensor), back, Lane::nvme_read, block);
  writer.set_resident(tensor, back);
}

void reload_before(Draft& draft, int op) {
  auto const found = draft.reloads.find(op);
  if (found == draft.reloads.end()) return;
  for (TensorId const tensor : found->second) reload(draft, tensor);
}

// The forward ops of a recomputed block that its backward ops need again, in order.
std::vector<int> ops_to_repeat(Draft const& draft, BackwardGroup const& group) {
  std::set<TensorId> needed;
  auto const need = [&](Op const& op) {
    for (View const& view : op.inputs) {
      if (draft.fates.of(view.tensor) == Fate::recompute) needed.insert(view.tensor);
    }
  };
  for (int const op : group.ops) need(draft.graph.ops[static_cast<std::size_t>(op)]);
  Block const& block = draft.graph.blocks[static_cast<std::size_t>(group.block)];
  std::vector<int> repeat;
  for (int id = block.last_op - 1; id >= block.first_op; --id) {
    Op const& op = draft.graph.ops[static_cast<std::size_t>(id)];
    bool const makes = std::any_of(op.outputs.begin(), op.outputs.end(),
                                   [&](View const& v) { return needed.contains(v.tensor); });
    if (op.elided || !makes) continue;
    repeat.push_back(id);
    need(op);
  }
  std::reverse(repeat.begin(), repeat.end());
  return repeat;
}

// Into new buffers: those of the forward pass are long free.
void recompute(Draft& draft, BackwardGroup const& group) {
  auto const repeat = ops_to_repeat(draft, group);
  for (int const op : repeat) {
    for (View const& view : draft.graph.ops[static_cast<std::size_t>(op)].outputs) {
      draft.writer.forget(view.tensor);
    }
  }
  for (int const op : repeat) draft.writer.run(op);
}

// Per backward op: the chunks whose gradients it is the last to contribute to.
std::map<int, std::vector<int>> last_contributions(Graph const& graph) {
  std::map<int, int> last;  // per chunk
  for (Op const& op : graph.ops) {
    if (op.phase != Phase::backward) continue;
    for (View const& view : op.outputs) {
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
    for (int const id : group.ops) {
      for (View const& view : graph.ops[static_cast<std::size_t>(id)].inputs) {
        bool const away = fates.of(view.tensor) == Fate::nvme;
        if (!away || !seen.insert(view.tensor).second) continue;
        reloads[group.ops.front()].push_back(view.tensor);
      }
    }
  }
  return reloads;
}

void schedule_backward(Draft& draft, MicroBatch const& micro_batch) {
  auto const complete = last_contributions(draft.graph);
  if (!micro_batch.first) {
    for (Chunk const& chunk : draft.graph.chunks) draft.writer.forget(chunk.gradient);
  }
  auto& starts = draft.op_starts.emplace_back();
  for (BackwardGroup const& group : draft.groups) {
    auto const begun_earlier = draft.reductions.size();
    bool const again =
        effective_policy(draft.graph, draft.plan, group.block) == BlockPolicy::recompute;
    for (int const op : group.ops) {
      starts.push_back(draft.writer.next());
      reload_before(draft, op);
      if (again && op == group.ops.front()) recompute(draft, group);
      draft.writer.run(variant(draft, op, micro_batch.first));
      auto const chunks = complete.find(op);
      if (chunks == complete.end()) continue;
      for (int const chunk : chunks->second) finish_gradient(draft, chunk, micro_batch);
    }
    finish_reductions(draft, begun_earlier);
  }
  finish_reductions(draft, draft.reductions.size());
}

}  // namespace spillway
