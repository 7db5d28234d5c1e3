// Gives the operands of every kind of op their names. All of it is made from graph/op_kinds.def.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/op.hpp"

namespace spillway {

// Operands<kind> has a view for each operand of the kind. Operands that may be absent need not be
// given, as in
//   Operands<OpKind::matmul>{.a = x, .b = w, .c = y}
template <OpKind kind, class V = View>
struct Operands;

#define IN(type, name) V name;
#define OUT(type, name) V name;
#define IN_IF(type, name) V name{};
#define OUT_IF(type, name) V name{};
#define SPILLWAY_OP(kind, rule, list) \
  template <class V>                  \
  struct Operands<OpKind::kind, V> {  \
    list                              \
  };
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
#undef IN
#undef OUT
#undef IN_IF
#undef OUT_IF

// An OperandRow describes one operand of a kind, as op_kinds.def lists it.
struct OperandRow {
  std::string_view name;
  bool is_output = false, may_be_absent = false;
};
// Returns the kind's operands in their order: inputs before outputs.
std::span<OperandRow const> operand_rows(OpKind kind);

// Throws std::logic_error, naming the op and the operand, unless the op has as many inputs and
// outputs as its kind, and among them all that may not be absent.
void check_operands(Op const& op);

// set_operands(op, Operands<kind>) sets the op's kind and its lists of inputs and outputs.
#define IN(type, name) op.inputs.push_back(from.name);
#define OUT(type, name) op.outputs.push_back(from.name);
#define IN_IF IN
#define OUT_IF OUT
#define SPILLWAY_OP(row, rule, list)                                    \
  inline void set_operands(Op& op, Operands<OpKind::row> const& from) { \
    op.kind = OpKind::row;                                              \
    op.inputs.clear();                                                  \
    op.outputs.clear();                                                 \
    list                                                                \
  }
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
#undef IN
#undef OUT

// operands<kind>(op) returns the op's operands by name, valid as long as its lists stay as they
// are. Throws std::logic_error if the op is of another kind or has other numbers of operands than
// its kind.
void require_kind(Op const& op, OpKind kind);
template <OpKind kind>
Operands<kind, View const&> operands(Op const& op);
#define IN(type, name) *in++,
#define OUT(type, name) *out++,
#define SPILLWAY_OP(row, rule, list)                                              \
  template <>                                                                     \
  inline Operands<OpKind::row, View const&> operands<OpKind::row>(Op const& op) { \
    require_kind(op, OpKind::row);                                                \
    auto in = op.inputs.begin(), out = op.outputs.begin();                        \
    return {list};                                                                \
  }
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
#undef IN
#undef OUT
#undef IN_IF
#undef OUT_IF

// Returns what `use` returns for the operands of `op`, which must be of one of the two kinds.
template <OpKind first, OpKind second, class Use>
auto with_operands(Op const& op, Use const& use) {
  return op.kind == first ? use(operands<first>(op)) : use(operands<second>(op));
}

}  // namespace spillway
