#include "plan/schedule/graph_shape.hpp"

#include <algorithm>

namespace spillway {

namespace {

// Early updates come in the order of groups. Late updates come in the order in which the next
// forward pass needs the chunks.
std::vector<int> in_order(Draft const& draft, std::vector<std::vector<int>> const& updated_after) {
  std::vector<int> all;
  for (auto const& chunks : updated_after) all.insert(all.end(), chunks.begin(), chunks.end());
  if (draft.plan.redo) std::ranges::sort(all);
  return all;
}

}  // namespace

GraphShape::GraphShape(Draft& draft, Variants const& variants)
    : m_draft(draft),
      m_forward(draft.graph.blocks.size()),
      m_parts(draft.graph.chunks.size()),
      m_reduces_each(draft.writer.program.arithmetic.reduction == "each") {
  note_forward();
  if (draft.graph.purpose != Purpose::train) return;
  for (GradientPart const& part : draft.graph.parts) m_parts[part.chunk].push_back(&part);
  note_gradients(variants);
  note_updates();
}

// A tensor leaves the device after the last forward op that uses it.
void GraphShape::note_forward() {
  std::map<TensorId, int> last_use;
  for (Op const& op : m_draft.graph.ops) {
    if (op.phase != Phase::forward || op.elided) continue;
    m_forward[op.block].push_back(op.id);
    for (auto const* views : {&op.inputs, &op.outputs}) {
      for (View const& view : present(*views)) {
        if (m_draft.fates.leaves(view.tensor)) last_use[view.tensor] = op.id;
      }
    }
  }
  for (auto const& [tensor, op] : last_use) m_leaving[op].push_back(tensor);
}

// A gradient is whole after the last backward op that writes it.
void GraphShape::note_gradients(Variants const& variants) {
  std::map<TensorId, GradientId> ids;
  for (Chunk const& chunk : m_draft.graph.chunks) {
    if (chunk.trainable) ids[chunk.gradient] = {chunk.id};
    for (int part = 0; part < parts(chunk.id); ++part)
      ids[m_parts[chunk.id][part]->tensor] = {chunk.id, part};
  }
  std::map<TensorId, int> last;
  for (BackwardGroup const& group : m_draft.groups) {
    for (int const id : group.ops) {
      Op const& op = m_draft.graph.op(id);
      for (std::size_t i = 0; i < op.outputs.size() && !variants.is_left_out(id); ++i) {
        if (!is_present(op.outputs[i])) continue;
        auto const tensor = variants.written(op, i);
        if (ids.contains(tensor)) last[tensor] = id;
      }
    }
  }
  for (auto const& [tensor, op] : last) m_whole_after[op].push_back(ids.at(tensor));
}

void GraphShape::note_updates() {
  for (Chunk const& chunk : m_draft.graph.chunks) {
    if (chunk.trainable) m_chunks.push_back(chunk.id);
  }
  m_norm_ops.resize(m_draft.graph.chunks.size());
  for (Op const& op : m_draft.graph.ops) {
    if (op.phase == Phase::norm) m_norm_ops[op.chunk].push_back(op.id);
  }
  m_loss_group = static_cast<int>(spillway::loss_group(m_draft));
  m_updated_after = chunks_by_group(m_draft);
  m_pieces = update_pieces(m_draft, in_order(m_draft, m_updated_after));
}

TensorId GraphShape::tensor(GradientId id) const {
  return id.part < 0 ? m_draft.chunk(id.chunk).gradient : part(id).tensor;
}

GradientPart const& GraphShape::part(GradientId id) const {
  return *m_parts[id.chunk][id.part];
}

}  // namespace spillway
