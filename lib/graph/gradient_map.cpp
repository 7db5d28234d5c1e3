#include "graph/gradient_map.hpp"

#include <algorithm>

namespace spillway {
namespace {

bool meet(ElementRange const& a, ElementRange const& b) {
  return a.first < b.last && b.first < a.last;
}

bool is_matrix(View const& view) {
  return view.shape.size() == 2 && view.strides[1] == 1 && view.strides[0] > 0 &&
         view.offset % view.strides[0] + view.shape[1] <= view.strides[0];
}

// Returns whether the views share elements. The answer is exact for matrices with equal strides;
// other views are compared by their bounding ranges.
bool overlap(View const& a, View const& b) {
  if (!is_matrix(a) || !is_matrix(b) || a.strides != b.strides)
    return meet(bounding_range(a), bounding_range(b));
  auto const pitch = a.strides[0];
  auto const rows = [&](View const& view) {
    return ElementRange{view.offset / pitch, view.offset / pitch + view.shape[0]};
  };
  auto const columns = [&](View const& view) {
    return ElementRange{view.offset % pitch, view.offset % pitch + view.shape[1]};
  };
  return meet(rows(a), rows(b)) && meet(columns(a), columns(b));
}

// Marks the trainable parameters and every activation that depends on them.
std::vector<bool> wanted(Graph const& graph) {
  std::vector<bool> result(graph.tensors.size(), false);
  auto const at = [&](View const& view) { return static_cast<std::size_t>(view.tensor); };
  for (Chunk const& chunk : graph.chunks) result[chunk.parameter] = chunk.trainable;
  for (Op const& op : graph.ops) {
    auto const is_wanted = [&](View const& view) { return result[at(view)]; };
    if (std::ranges::none_of(present(op.inputs), is_wanted)) continue;
    for (View const& view : present(op.outputs)) result[at(view)] = true;
  }
  return result;
}

}  // namespace

GradientMap::GradientMap(Graph const& graph) : m_wanted(wanted(graph)) {}

std::optional<View> GradientMap::find(View const& forward) const {
  auto const entry = m_entries.find(forward.tensor);
  if (entry == m_entries.end() || std::ranges::count(entry->second.parts, forward) == 0) return {};
  View gradient = forward;
  gradient.tensor = entry->second.gradient;
  return gradient;
}

std::optional<TensorId> GradientMap::tensor_of(TensorId forward) const {
  auto const entry = m_entries.find(forward);
  if (entry == m_entries.end()) return {};
  return entry->second.gradient;
}

bool GradientMap::is_complete(Tensor const& tensor) const {
  auto const entry = m_entries.find(tensor.id);
  if (entry == m_entries.end()) return false;
  std::int64_t elements = 0;
  for (auto const& part : entry->second.parts) elements += element_count(part.shape);
  return elements == element_count(tensor.shape);
}

char const* GradientMap::put(View const& forward, TensorId gradient) {
  auto& entry = m_entries[forward.tensor];
  auto const others = [&](View const& part) { return part != forward; };
  bool const replaces = entry.gradient != gradient;
  if (replaces && std::ranges::any_of(entry.parts, others))
    return "its gradient has other parts, which a sum of this one would leave behind";
  if (!replaces && std::ranges::count(entry.parts, forward) > 0)
    return "its gradient is written twice";
  for (View const& part : entry.parts) {
    if (part != forward && overlap(part, forward))
      return "its gradient has another part that shares elements with this one";
  }
  if (replaces) entry = {gradient, {}};
  entry.parts.push_back(forward);
  return nullptr;
}

int GradientMap::note_use(TensorId parameters, ElementRange const& range) {
  auto& uses = m_uses[parameters];
  for (Use& use : uses) {
    if (use.range.first == range.first && use.range.last == range.last) return ++use.count;
    if (meet(use.range, range)) return -1;
  }
  uses.push_back({range, 0});
  return 0;
}

bool GradientMap::is_used(TensorId parameters, ElementRange const& range) const {
  auto const uses = m_uses.find(parameters);
  if (uses == m_uses.end()) return false;
  std::int64_t used = 0;  // in elements; uses do not overlap
  for (Use const& use : uses->second) {
    if (!meet(use.range, range)) continue;
    used += std::min(use.range.last, range.last) - std::max(use.range.first, range.first);
  }
  return used == range.last - range.first;
}

}  // namespace spillway
