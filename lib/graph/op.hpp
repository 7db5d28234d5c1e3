// One operation on views. An Op says what is computed, never where or when.
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
#define SPILLWAY_OP(name, rule) name,
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
};

enum class Phase : std::uint8_t { forward, backward, norm, update };

struct Op {
  int id = -1;
  int origin = -1;  // the forward op it came from; its own id for a forward op
  OpKind kind{};
  Phase phase = Phase::forward;
  int block = -1;
  int chunk = -1;                     // for ops on whole chunks
  std::string name;                   // as in "h.3/ln_1"
  std::vector<View> inputs, outputs;  // as many as docs/ops.md says: an absent one is View{}
  std::vector<int> in_place;          // outputs that are read as well: indices into `outputs`
  Attributes attributes;
  double flops = 0;
  std::int64_t workspace_bytes = 0;  // asked of the kernel by `size_workspaces`
  bool elided = false;  // a forward op whose work its backward op does too (lm_head_loss)
  // An update that asks for whole parameters: it is never given a slice of its chunk.
  bool whole_chunk = false;
  bool operator==(Op const&) const = default;
};

std::string_view name(OpKind kind);

// The op's attributes, of the type that its kind has. Throws, naming the op, where they are not.
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

// Tells which elements of its chunk an op of the update works on, whatever its kind is. Throws,
// naming the op, where it has no such attribute.
UpdateRange& update_range(Op& op);

// The operands that are there.
inline auto present(std::vector<View> const& views) {
  return views | std::views::filter(is_present);
}

bool is_in_place(Op const& op, std::size_t output);
// From now on the op adds to what is in its outputs on `tensor`, or overwrites them.
void set_in_place(Op& op, TensorId tensor, bool in_place);
bool writes(Op const& op, TensorId tensor);

// Bytes read and written, counted once per view.
std::int64_t traffic_bytes(Op const& op, IdVector<Tensor> const& tensors);
// Ops with equal keys take equal time: kind, shapes, dtypes, in-place outputs, attributes.
std::string cost_key(Op const& op, IdVector<Tensor> const& tensors);

}  // namespace spillway
