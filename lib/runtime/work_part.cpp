#include "runtime/work_part.hpp"

namespace spillway {

std::string_view name(WorkPart part) {
  constexpr std::array<std::string_view, kWorkParts> names = {
      "matmul forward", "matmul backward", "attention", "loss", "other ops", "optimizer"};
  return names[index(part)];
}

WorkPart work_part(Program const& program, Item const& item) {
  if (item.kind != ItemKind::op) return WorkPart::other_ops;
  auto const& op = program.ops[static_cast<std::size_t>(item.op)];
  if (op.phase == Phase::update || op.phase == Phase::norm) return WorkPart::optimizer;
  switch (op.kind) {
    case OpKind::matmul:
    case OpKind::mlp:
    case OpKind::mlp_backward:
      return op.phase == Phase::forward ? WorkPart::matmul_forward : WorkPart::matmul_backward;
    case OpKind::attention:
    case OpKind::attention_backward:
      return WorkPart::attention;
    case OpKind::lm_head_loss:
    case OpKind::lm_head_loss_backward:
      return WorkPart::loss;
    default:
      return WorkPart::other_ops;
  }
}

}  // namespace spillway
