#include "runtime/bind.hpp"

#include <utility>

#include "base/check.hpp"

namespace spillway {

BoundItem bind_item(EngineParts const& parts, BindTo const& to, Item const& item) {
  auto const action = [](Action run) {
    BoundItem bound;
    bound.run = std::move(run);
    return bound;
  };
  switch (item.kind) {
    case ItemKind::op:
      return action(bind_op(parts, to, item));
    case ItemKind::load_batch:
      return action(bind_load_batch(parts, item));
    case ItemKind::copy:
      return bind_copy(parts, to.stream, item);
    case ItemKind::all_to_all:
      return action(bind_all_to_all(parts, item));
    case ItemKind::all_gather:
      return action(bind_all_gather(parts, item));
    case ItemKind::commit:
    case ItemKind::report:
      return action(bind_commit(parts, to.state_lost, item));
  }
  fail_check("an item", "is of no kind");
}

Buffer const& operand(Program const& program, Item const& item, std::size_t index) {
  check(index < item.operands.size(), "an item", "has fewer operands than its kind");
  return program.buffers[static_cast<std::size_t>(item.operands[index])];
}

std::array<HostBytes, 2> versions(Tiers const& tiers, Buffer const& buffer) {
  return {host_bytes(tiers, buffer, 0), host_bytes(tiers, buffer, 1)};
}

std::array<double const*, 2> go_words(EngineParts const& parts, Item const& item) {
  if (item.operands.size() < 3) return {};
  auto const control = versions(parts.tiers, operand(parts.program, item, 2));
  return {reinterpret_cast<double const*>(control[0].data()) + control_go,
          reinterpret_cast<double const*>(control[1].data()) + control_go};
}

}  // namespace spillway
