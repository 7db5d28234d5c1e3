#include "io/h5/checkpoint_masters.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/bf16.hpp"
#include "io/h5/checkpoint_file.hpp"

namespace spillway {
namespace {

TensorList as_floats(TensorList const& tensors) {
  std::vector<TensorEntry> entries(tensors.begin(), tensors.end());
  for (auto& entry : entries) entry.type = ElementType::f32;
  return TensorList(std::move(entries));
}

}  // namespace

CheckpointMasters::CheckpointMasters(CheckpointReader& checkpoint)
    : m_weights(checkpoint, kWeightsGroup),
      m_remainders(checkpoint, kRemainderGroup),
      m_tensors(as_floats(m_weights.tensors())) {}

void CheckpointMasters::read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) {
  m_tensors.offset_bytes(tensor, first, to.size());  // throws if the elements do not exist
  std::span const floats(reinterpret_cast<float*>(to.data()), to.size() / sizeof(float));
  read_floats(m_weights, tensor, first, floats);
  add_remainders(tensor, first, floats);
}

void CheckpointMasters::add_remainders(std::size_t tensor, std::int64_t first,
                                       std::span<float> to) {
  auto const number = m_remainders.tensors().find(m_tensors[tensor].name);
  if (!number) return;
  std::array<std::int16_t, 1 << 14> remainders;
  while (!to.empty()) {
    auto const part = to.first(std::min(to.size(), remainders.size()));
    std::span const rest(remainders.data(), part.size());
    m_remainders.read(*number, first, std::as_writable_bytes(rest));
    for (std::size_t i = 0; i < part.size(); ++i)
      part[i] = join_master(split_master(part[i]).parameter, rest[i]);
    first += std::ssize(part);
    to = to.subspan(part.size());
  }
}

}  // namespace spillway
