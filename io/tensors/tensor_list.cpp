#include "io/tensors/tensor_list.hpp"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

namespace spillway {

std::int64_t element_count(TensorEntry const& entry) {
  std::int64_t count = 1;
  for (auto const extent : entry.shape) count *= extent;
  return count;
}

std::int64_t size_bytes(TensorEntry const& entry) {
  return element_count(entry) * size_bytes(entry.type);
}

std::int64_t size_bytes(TensorList const& tensors) {
  std::int64_t bytes = 0;
  for (auto const& tensor : tensors) bytes += size_bytes(tensor);
  return bytes;
}

TensorList as_floats(TensorList const& tensors) {
  std::vector<TensorEntry> entries(tensors.begin(), tensors.end());
  for (auto& entry : entries) entry.type = ElementType::f32;
  return TensorList(std::move(entries));
}

TensorList::TensorList(std::vector<TensorEntry> entries) : m_entries(std::move(entries)) {
  for (std::size_t i = 0; i < m_entries.size(); ++i) {
    if (m_numbers.emplace(m_entries[i].name, i).second) continue;
    throw std::logic_error(m_entries[i].name + ": two tensors have this name");
  }
}

std::optional<std::size_t> TensorList::find(std::string_view name) const {
  auto const found = m_numbers.find(name);
  return found == m_numbers.end() ? std::nullopt : std::optional(found->second);
}

std::int64_t TensorList::offset_bytes(std::size_t number, std::int64_t first,
                                      std::size_t bytes) const {
  auto const& entry = m_entries.at(number);
  auto const element_bytes = size_bytes(entry.type), length = static_cast<std::int64_t>(bytes);
  bool const inside = first >= 0 && length % element_bytes == 0 &&
                      length / element_bytes <= element_count(entry) - first;
  if (inside) return first * element_bytes;
  throw std::logic_error(
      fmt::format("{}: has no {} bytes of elements from {} on", entry.name, length, first));
}

}  // namespace spillway
