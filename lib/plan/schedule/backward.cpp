#include "plan/schedule/backward.hpp"

#include <set>
#include <utility>

#include "plan/schedule/forward.hpp"
#include "plan/schedule/gradients.hpp"
#include "plan/schedule/stream_parameters.hpp"
#include "plan/schedule/updates.hpp"

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

// Per backward op: the tensors of gradients, chunks' and parts, that it is the last to write.
std::map<int, std::vector<TensorId>> last_contributions(Draft& draft) {
  std::map<TensorId, int> last;
  for (BackwardGroup const& group : draft.groups) {
    for (int const id : group.ops) {
      auto const scheduled = variant(draft, id, true);
      if (!scheduled) continue;
      Op const& op = draft.writer.program.ops[static_cast<std::size_t>(*scheduled)];
      for (View const& view : present(op.outputs)) {
        if (draft.writer.tensor(view.tensor).role == Role::gradient) last[view.tensor] = id;
      }
    }
  }
  std::map<int, std::vector<TensorId>> result;
  for (auto const& [tensor, op] : last) result[op].push_back(tensor);
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
  auto const complete = last_contributions(draft);
  if (!micro_batch.first) forget_gradients(draft);
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
      auto const scheduled = variant(draft, op, micro_batch.first);
      if (!scheduled) continue;
      ends[group.block] = draft.writer.run(*scheduled);
      auto const written = complete.find(op);
      if (written == complete.end()) continue;
      for (TensorId const tensor : written->second)
        finish_gradient(draft, tensor, group.block, micro_batch);
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
