#include "plan/schedule/graph_shape.hpp"

#include <set>

namespace spillway {

namespace {

// Returns the group after which a micro-batch's loss is known, or 0 if the forward pass computes
// the loss.
int group_of_loss(Graph const& graph, IdVector<BackwardGroup> const& groups) {
  auto const tells_loss = [&](int id) { return writes(graph.op(id), graph.known.loss); };
  auto const found = std::ranges::find_if(groups, [&](BackwardGroup const& group) {
    return std::ranges::any_of(group.ops, tells_loss);
  });
  return found == groups.end() ? 0 : static_cast<int>(found - groups.begin());
}

}  // namespace

GraphShape::GraphShape(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                       std::int64_t ranks)
    : m_graph(graph),
      m_plan(plan),
      m_micro_batches(micro_batches),
      m_ranks(ranks),
      m_fates(decide_fates(graph, plan)),
      m_groups(backward_groups(graph)),
      m_stations(ops_of_stations(graph, m_fates)),
      m_streaming(plan_streaming(graph, plan, m_stations)),
      m_leaving(graph.ops.size()),
      m_reloads(graph.ops.size()),
      m_whole_after(graph.ops.size()),
      m_parts(graph.chunks.size()),
      m_norm_ops(graph.chunks.size()) {
  note_spills();
  if (graph.purpose != Purpose::train) return;
  for (GradientPart const& part : graph.parts) m_parts[part.chunk].push_back(&part);
  note_gradients();
  note_updates();
}

// Notes that each spilled tensor leaves the device after the last forward op that uses it, and is
// reloaded at the beginning of the first group that reads it.
void GraphShape::note_spills() {
  IdVector<int> last_use(m_graph.tensors.size(), -1);
  for (int block = 0; block < blocks(); ++block) {
    for (int const op : station_ops(block)) {
      for (auto const* views : {&m_graph.op(op).inputs, &m_graph.op(op).outputs}) {
        for (View const& view : present(*views)) last_use[view.tensor] = op;
      }
    }
  }
  for (Tensor const& tensor : m_graph.tensors) {
    if (m_fates.leaves(tensor.id)) m_leaving[last_use[tensor.id]].push_back(tensor.id);
  }
  std::set<TensorId> back;
  for (int group = 0; group < groups(); ++group) {
    for (int const op : station_ops(blocks() + group)) {
      for (View const& view : present(m_graph.op(op).inputs)) {
        if (m_fates.leaves(view.tensor) && back.insert(view.tensor).second)
          m_reloads[backward_op(group, 0)].push_back(view.tensor);
      }
    }
  }
}

// Notes that each gradient is complete after the last backward op that writes it.
void GraphShape::note_gradients() {
  std::map<TensorId, GradientId> ids;
  for (Chunk const& chunk : m_graph.chunks) {
    if (chunk.trainable) ids[chunk.gradient] = {chunk.id};
    for (int part = 0; part < parts(chunk.id); ++part)
      ids[m_parts[chunk.id][part]->tensor] = {chunk.id, part};
  }
  std::map<TensorId, int> last;
  for (BackwardGroup const& group : m_groups) {
    for (int const id : group.ops) {
      auto const& outputs = m_graph.op(id).outputs;
      for (std::size_t i = 0; i < outputs.size() && !is_left_out(id); ++i) {
        auto const* const part = part_written(id, i);
        auto const tensor = part != nullptr ? part->tensor : outputs[i].tensor;
        if (ids.contains(tensor)) last[tensor] = id;
      }
    }
  }
  for (auto const& [tensor, op] : last) m_whole_after[op].push_back(ids.at(tensor));
  if (m_graph.arithmetic.share.empty()) return;
  // Ranks with one micro-batch and ranks with several must exchange in the same order: where there
  // are several, gradients with further uses end with these, so they come last.
  auto const has_parts = [&](GradientId id) { return parts(id.chunk) > 0; };
  for (auto& gradients : m_whole_after) std::ranges::stable_sort(gradients, {}, has_parts);
}

// Returns for each chunk the group after which it can be updated, because its gradient is complete,
// no later op of the pass reads its parameters, and the loss is known. A result of groups() means
// that the update comes after all groups.
IdVector<int> GraphShape::ready_after() const {
  IdVector<int> ready(m_graph.chunks.size(), m_loss_group);
  for (int group = 0; group < groups(); ++group) {
    for (int const op : station_ops(blocks() + group)) {
      for (auto const* views : {&m_graph.op(op).inputs, &m_graph.op(op).outputs}) {
        for (View const& view : present(*views)) {
          Tensor const& tensor = m_graph.tensor(view);
          if (tensor.chunk < 0) continue;
          bool const is_summed = exchanges() && tensor.role == Role::gradient;
          auto const after = std::min(group + groups_until_updated(is_summed), groups());
          ready[tensor.chunk] = std::max(ready[tensor.chunk], after);
        }
      }
    }
  }
  return ready;
}

// Without redo, updates come in the order of the groups that they follow. With redo, they come in
// the order in which the next forward pass needs the chunks.
void GraphShape::note_updates() {
  m_loss_group = group_of_loss(m_graph, m_groups);
  for (Op const& op : m_graph.ops) {
    if (op.phase == Phase::norm) m_norm_ops[op.chunk].push_back(op.id);
  }
  for (Chunk const& chunk : m_graph.chunks) {
    if (chunk.trainable) m_chunks.push_back(chunk.id);
  }
  auto ready = ready_after();
  if (!m_plan.redo) {
    for (int const chunk : put_off(m_plan, m_chunks, ready)) ready[chunk] = groups();
  }
  m_updated_after.resize(static_cast<std::size_t>(groups()) + 1);
  for (int const chunk : m_chunks) m_updated_after[ready[chunk]].push_back(chunk);
  auto order = m_chunks;
  if (!m_plan.redo) std::ranges::stable_sort(order, {}, [&](int chunk) { return ready[chunk]; });
  m_pieces = update_pieces(m_graph, m_plan, m_ranks, order);
}

TensorId GraphShape::tensor(GradientId id) const {
  return id.part < 0 ? chunk(id.chunk).gradient : part(id).tensor;
}

GradientPart const& GraphShape::part(GradientId id) const {
  return *m_parts[id.chunk][id.part];
}

GradientPart const* GraphShape::part_written(int op, std::size_t output) const {
  auto const is_it = [&](GradientPart const& part) {
    return part.op == op && part.output == static_cast<int>(output);
  };
  auto const found = std::ranges::find_if(m_graph.parts, is_it);
  return m_micro_batches > 1 && found != m_graph.parts.end() ? &*found : nullptr;
}

bool GraphShape::makes_part(int op) const {
  return m_micro_batches > 1 && std::ranges::count(m_graph.parts, op, &GradientPart::op) > 0;
}

bool GraphShape::is_left_out(int op) const {
  return m_micro_batches > 1 && std::ranges::count(m_graph.parts, op, &GradientPart::add) > 0;
}

}  // namespace spillway
