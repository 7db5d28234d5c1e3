#include "io/h5/checkpoint_group.hpp"

#include <utility>

namespace spillway {
namespace {

TensorList tensors_of(CheckpointReader const& checkpoint, std::string const& group) {
  std::vector<TensorEntry> entries;
  for (auto const& tensor : checkpoint.tensors()) {
    if (tensor.group == group) entries.push_back({tensor.name, tensor.type, tensor.shape});
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
  m_checkpoint.read(m_group, m_tensors[tensor].name, first, to);
}

TensorRange CheckpointGroup::verified_range(std::size_t tensor, TensorRange range) const {
  return m_checkpoint.verified_range(m_group, m_tensors[tensor].name, range);
}

}  // namespace spillway
