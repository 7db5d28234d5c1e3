#include "runtime/step_result.hpp"

namespace spillway {

std::array<double, kOpKinds> seconds_by_kind(Program const& program,
                                             std::span<ItemTime const> times) {
  std::array<double, kOpKinds> seconds{};
  for (auto const& time : times) {
    auto const& item = program.items[static_cast<std::size_t>(time.item)];
    if (item.kind != ItemKind::op) continue;
    auto const& op = program.ops[static_cast<std::size_t>(item.op)];
    seconds[static_cast<std::size_t>(op.kind)] += time.end_s - time.start_s;
  }
  return seconds;
}

}  // namespace spillway
