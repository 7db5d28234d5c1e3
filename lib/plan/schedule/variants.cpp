#include "plan/schedule/variants.hpp"

namespace spillway {

Variants::Variants(Graph const& graph, ProgramWriter& writer)
    : m_graph(graph), m_writer(writer), m_several(writer.program.micro_batches > 1) {
  for (GradientPart const& part : graph.parts) {
    m_parts.emplace(part.op, &part);
    if (part.add >= 0) m_adds.insert(part.add);
  }
}

GradientPart const* Variants::part_of(int op, std::size_t output) const {
  if (!m_several) return nullptr;
  auto const [first, end] = m_parts.equal_range(op);
  for (auto found = first; found != end; ++found) {
    if (found->second->output == static_cast<int>(output)) return found->second;
  }
  return nullptr;
}

TensorId Variants::written(Op const& op, std::size_t output) const {
  auto const* const part = part_of(op.id, output);
  return part != nullptr ? part->tensor : op.outputs[output].tensor;
}

std::optional<int> Variants::of(int id, bool first) {
  if (is_left_out(id)) return {};
  auto const& original = m_graph.ops[id];
  auto const loss = m_graph.known.loss;
  bool const tells_loss = loss >= 0 && writes(original, loss);
  if (!tells_loss && !(m_several && m_parts.contains(id))) return id;
  auto const [found, is_new] = m_made.try_emplace({id, first}, -1);
  if (!is_new) return found->second;
  Op op = original;
  if (tells_loss) set_in_place(op, loss, !first);
  for (std::size_t output = 0; output < op.outputs.size(); ++output) {
    auto const* const part = part_of(id, output);
    View& view = op.outputs[output];
    if (part == nullptr || view.tensor == part->tensor) continue;
    view.tensor = part->tensor;  // the op writes the part instead of adding it
    view.offset -= part->range.first;
    std::erase(op.in_place, part->output);
  }
  return found->second = m_writer.add_op(std::move(op));
}

}  // namespace spillway
