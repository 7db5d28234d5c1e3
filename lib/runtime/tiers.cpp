#include "runtime/tiers.hpp"

#include <algorithm>
#include <cassert>

#include "graph/gradient_slice.hpp"

namespace spillway {

std::span<std::byte> buffer_bytes(Tiers const& tiers, Buffer const& buffer, int parity) {
  assert(buffer.tier != Tier::nvme && buffer.offset >= 0);
  auto const& arena = buffer.tier == Tier::device ? tiers.device : tiers.host;
  auto const offset = buffer.offset + (buffer.versions > 1 ? parity * buffer.stride : 0);
  return {arena.at(offset, buffer.bytes), static_cast<std::size_t>(buffer.bytes)};
}

ByteRange held_bytes(Program const& program, Buffer const& buffer, int rank) {
  auto const& tensor = program.tensors[buffer.tensor];
  auto const size = size_bytes(tensor.dtype);
  auto slice = Slice{0, element_count(tensor.shape)};
  if (buffer.part.of_slice) slice = gradient_slice(slice.count, rank, program.ranks);
  auto const first = slice.first * size + buffer.part.first;
  return {first, std::min(first + buffer.bytes, (slice.first + slice.count) * size)};
}

Buffer const* find_buffer(Program const& program, TensorId tensor) {
  if (tensor < 0) return nullptr;
  for (auto const& buffer : program.buffers) {
    if (buffer.tensor == tensor && buffer.tier != Tier::nvme) return &buffer;
  }
  return nullptr;
}

}  // namespace spillway
