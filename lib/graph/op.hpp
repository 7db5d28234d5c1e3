// Describes one operation on views. An Op says what is computed, never where or when.
#pragma once

#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/id_vector.hpp"
#include "graph/attributes.hpp"
#include "graph/tensor.hpp"

namespace spillway {

enum class OpKind : std::uint8_t {
#define SPILLWAY_OP(name, rule, operands) name,
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
};

enum class Phase : std::uint8_t { forward, backward, norm, update };

struct Op {
  int id = -1;
  int origin = -1;  // id of a backward op's forward op; for other ops their own id
  OpKind kind{};
  Phase phase = Phase::forward;
  int block = -1;
  int chunk = -1;                     // the chunk that a norm or an update works on; or -1
  std::string name;                   // for example "h.3/ln_1"
  std::vector<View> inputs, outputs;  // in the order of docs/ops.md; View{} if absent
  std::vector<int> in_place;          // indices of outputs that are read as well
  Attributes attributes;
  double flops = 0;
  std::int64_t workspace_bytes = 0;  // `size_workspaces` asks the kernel for it
  bool elided = false;               // true if a backward op does this op's work too
  // True if the op must update its whole chunk at a time, never a slice of it.
  bool whole_chunk = false;
  bool operator==(Op const&) const = default;
};

std::string_view name(OpKind kind);

// Returns the attributes as the type that the op's kind has. Throws std::logic_error, naming the
// op, if they are of another type.
[[noreturn]] void fail_for_attributes(Op const& op);
template <class T>
T const& attributes_of(Op const& op) {
  if (auto const* const found = std::get_if<T>(&op.attributes)) return *found;
  fail_for_attributes(op);
}
template <class T>
T& attributes_of(Op& op) {
  return const_cast<T&>(attributes_of<T>(std::as_const(op)));
}

// Returns the attribute that says which elements of its chunk an op of the update works on,
// whatever its kind is. Throws std::logic_error, naming the op, if it has no such attribute.
UpdateRange& update_range(Op& op);

// Returns the operands that are not View{}.
inline auto present(std::vector<View> const& views) {
  return views | std::views::filter(is_present);
}

bool is_in_place(Op const& op, std::size_t output);
// `output` must be an element of op.outputs, not a copy of one.
bool is_in_place(Op const& op, View const& output);
// From now on the op adds to its outputs on `tensor` if `in_place` is true, and otherwise
// overwrites them.
void set_in_place(Op& op, TensorId tensor, bool in_place);
bool writes(Op const& op, TensorId tensor);

// Returns the bytes of all views that the op reads or writes. An output in place counts twice. Of a
// gradient that `tree_sum` sums, only one rank's slice counts.
std::int64_t traffic_bytes(Op const& op, IdVector<Tensor> const& tensors);
// Returns a text of all that decides an op's time: ops with equal keys take equal time.
std::string cost_key(Op const& op, IdVector<Tensor> const& tensors);

}  // namespace spillway
