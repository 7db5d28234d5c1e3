#include "runtime/tiers.hpp"

#include <cassert>

namespace spillway {

std::span<std::byte> buffer_bytes(Tiers const& tiers, Buffer const& buffer, int parity) {
  assert(buffer.tier != Tier::nvme && buffer.offset >= 0);
  auto const& arena = buffer.tier == Tier::device ? tiers.device : tiers.host;
  auto const offset = buffer.offset + (buffer.versions > 1 ? parity * buffer.stride : 0);
  return {arena.at(offset, buffer.bytes), static_cast<std::size_t>(buffer.bytes)};
}

Buffer const* find_buffer(Program const& program, TensorId tensor) {
  if (tensor < 0) return nullptr;
  for (auto const& buffer : program.buffers) {
    if (buffer.tensor == tensor && buffer.tier != Tier::nvme) return &buffer;
  }
  return nullptr;
}

}  // namespace spillway
