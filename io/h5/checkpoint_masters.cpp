#include "io/h5/checkpoint_masters.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/bf16.hpp"
#include "base/error.hpp"
#include "io/h5/checkpoint_file.hpp"

namespace spillway {

CheckpointMasters::CheckpointMasters(CheckpointReader& checkpoint)
    : m_weights(checkpoint, kWeightsGroup),
      m_remainders(checkpoint, kRemainderGroup),
      m_tensors(as_floats(m_weights.tensors())) {
  for (auto const& remainder : m_remainders.tensors()) {
    auto const weight = m_weights.tensors().find(remainder.name);
    bool const fits = weight && remainder.type == ElementType::i16 &&
                      m_weights.tensors()[*weight].type == ElementType::bf16 &&
                      m_weights.tensors()[*weight].shape == remainder.shape;
    if (!fits)
      throw Error(Status::damaged, fmt::format("{}: {}/{}: is the remainder of no bf16 weight",
                                               place(), kRemainderGroup, remainder.name));
  }
}

// Both halves of a master are verified.
TensorRange CheckpointMasters::verified_range(std::size_t tensor, TensorRange range) const {
  auto const weights = m_weights.verified_range(tensor, range);
  auto const number = m_remainders.tensors().find(m_tensors[tensor].name);
  if (!number) return weights;
  auto const remainders = m_remainders.verified_range(*number, range);
  return {std::min(weights.first, remainders.first), std::max(weights.last, remainders.last)};
}

void CheckpointMasters::read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) {
  m_tensors.offset_bytes(tensor, first, to.size());  // throws if the elements do not exist
  auto const floats = floats_of(to);
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
