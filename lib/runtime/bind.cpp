#include "runtime/bind.hpp"

#include <cassert>

namespace spillway {

Action bind(EngineParts const& parts, StepRecord& record, Item const& item) {
  switch (item.kind) {
    case ItemKind::op:
      return bind_op(parts, item);
    case ItemKind::load_batch:
      return bind_load_batch(parts, item);
    case ItemKind::copy:
      return bind_copy(parts, record, item);
    case ItemKind::all_to_all:
      return bind_all_to_all(parts, item);
    case ItemKind::all_gather:
      return bind_all_gather(parts, item);
    case ItemKind::commit:
      return bind_commit(parts, record, item);
  }
  assert(false);
  return {};
}

Buffer const& operand(Program const& program, Item const& item, std::size_t index) {
  assert(index < item.operands.size());
  return program.buffers[static_cast<std::size_t>(item.operands[index])];
}

std::array<std::span<std::byte>, 2> versions(Tiers const& tiers, Buffer const& buffer) {
  return {buffer_bytes(tiers, buffer, 0), buffer_bytes(tiers, buffer, 1)};
}

}  // namespace spillway
