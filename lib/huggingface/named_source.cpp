#include "huggingface/named_source.hpp"

#include <algorithm>
#include <cstring>

namespace spillway {
namespace {

constexpr std::int64_t kTileElements = 1 << 19;

TensorList renamed(TensorList const& tensors, std::vector<NamedTensor> const& names) {
  std::vector<TensorEntry> entries;
  for (auto const& [name, number] : names) {
    entries.push_back(tensors[number]);
    entries.back().name = name;
  }
  return TensorList(std::move(entries));
}

}  // namespace

NamedSource::NamedSource(TensorSource& source, std::vector<NamedTensor> const& names)
    : m_source(source), m_tensors(renamed(source.tensors(), names)) {
  for (auto const& named : names) m_numbers.push_back(named.number);
}

void NamedSource::read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) {
  m_source.read(m_numbers.at(tensor), first, to);
}

bool have_equal_values(TensorSource& source, std::size_t one, std::size_t other) {
  if (source.tensors()[one].shape != source.tensors()[other].shape) return false;
  std::vector<float> a(kTileElements), b(kTileElements);
  auto const elements = element_count(source.tensors()[one]);
  for (std::int64_t first = 0; first < elements; first += kTileElements) {
    auto const count = static_cast<std::size_t>(std::min(kTileElements, elements - first));
    read_floats(source, one, first, std::span(a).first(count));
    read_floats(source, other, first, std::span(b).first(count));
    if (std::memcmp(a.data(), b.data(), count * sizeof(float)) != 0) return false;
  }
  return true;
}

}  // namespace spillway
