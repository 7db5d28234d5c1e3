#include "io/h5/checkpoint_group.hpp"

#include <utility>

namespace spillway {
namespace {

TensorList tensors_of(CheckpointReader const& checkpoint, std::string const& group) {
  std::vector<TensorEntry> entries;
  for (auto const& tensor : checkpoint.tensors()) {
    if (tensor.group == group) entries.push_back({tensor.name, ElementType::f32, tensor.shape});
  }
  return TensorList(std::move(entries));
}

}  // namespace

CheckpointGroup::CheckpointGroup(CheckpointReader& checkpoint, std::string group)
    : m_checkpoint(checkpoint),
      m_group(std::move(group)),
      m_tensors(tensors_of(checkpoint, m_group)) {}

void CheckpointGroup::read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) {
  m_tensors.offset_bytes(tensor, first, to.size());  // throws if the elements do not exist
  std::span const floats(reinterpret_cast<float*>(to.data()), to.size() / sizeof(float));
  m_checkpoint.read(m_group, m_tensors[tensor].name, first, floats);
}

}  // namespace spillway
