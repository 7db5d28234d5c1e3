#include "graph/operands.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "graph/refuse.hpp"

namespace spillway {
namespace {

#define IN(type, name) OperandRow{#name, false, false},
#define IN_IF(type, name) OperandRow{#name, false, true},
#define OUT(type, name) OperandRow{#name, true, false},
#define OUT_IF(type, name) OperandRow{#name, true, true},
#define SPILLWAY_OP(name, rule, list) constexpr OperandRow k_##name[] = {list};
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
#undef IN
#undef IN_IF
#undef OUT
#undef OUT_IF

constexpr std::span<OperandRow const> kRows[] = {
#define SPILLWAY_OP(name, rule, list) k_##name,
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
};

}  // namespace

std::span<OperandRow const> operand_rows(OpKind kind) {
  return kRows[static_cast<std::size_t>(kind)];
}

void require_kind(Op const& op, OpKind kind) {
  if (op.kind != kind)
    refuse_graph(op.name, "", fmt::format("{} is taken for {}", name(op.kind), name(kind)));
  auto const rows = operand_rows(kind);
  auto const outputs =
      static_cast<std::size_t>(std::ranges::count(rows, true, &OperandRow::is_output));
  if (op.inputs.size() + outputs != rows.size() || op.outputs.size() != outputs)
    refuse_graph(op.name, "",
                 fmt::format("{} has {} inputs and {} outputs, not {} and {}", name(kind),
                             rows.size() - outputs, outputs, op.inputs.size(), op.outputs.size()));
}

void check_operands(Op const& op) {
  require_kind(op, op.kind);
  auto const rows = operand_rows(op.kind);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto const& view = rows[i].is_output ? op.outputs[i - op.inputs.size()] : op.inputs[i];
    if (!is_present(view) && !rows[i].may_be_absent)
      refuse_graph(op.name, "", fmt::format("lacks its operand {}", rows[i].name));
  }
}

}  // namespace spillway
