#include "graph/gradient_map.hpp"

#include <algorithm>
#include <cassert>

namespace spillway {

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

void GradientMap::put(View const& forward, TensorId gradient) {
  auto& entry = m_entries[forward.tensor];
  if (entry.gradient != gradient) entry = {gradient, {}};
  assert(std::ranges::count(entry.parts, forward) == 0);
  entry.parts.push_back(forward);
}

bool GradientMap::mark_written(View const& parameter_gradient) {
  return !m_written.emplace(parameter_gradient.tensor, parameter_gradient.offset).second;
}

}  // namespace spillway
