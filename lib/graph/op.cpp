#include "graph/op.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <stdexcept>
#include <type_traits>
#include <variant>

#include "graph/operands.hpp"
#include "graph/refuse.hpp"

namespace spillway {
namespace {

constexpr std::string_view kNames[] = {
#define SPILLWAY_OP(name, rule, operands) #name,
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
};

Tensor const& tensor_of(View const& view, IdVector<Tensor> const& tensors) {
  return tensors[view.tensor];
}

std::string describe(View const& view, IdVector<Tensor> const& tensors) {
  if (!is_present(view)) return "-";
  auto const dtype = name(tensor_of(view, tensors).dtype);
  auto const shape = fmt::format("{}[{}]", dtype, fmt::join(view.shape, ","));
  return is_contiguous(view) ? shape : fmt::format("{}/{}", shape, fmt::join(view.strides, ","));
}

}  // namespace

std::string_view name(OpKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

UpdateRange& update_range(Op& op) {
  return std::visit(
      [&]<class T>(T& any) -> UpdateRange& {
        if constexpr (std::is_same_v<T, UpdateRange>) {
          return any;
        } else if constexpr (requires {
                               { any.range } -> std::same_as<UpdateRange&>;
                             }) {
          return any.range;
        } else {
          fail_for_attributes(op);
        }
      },
      op.attributes);
}

bool is_in_place(Op const& op, std::size_t output) {
  return std::ranges::count(op.in_place, static_cast<int>(output)) > 0;
}

bool is_in_place(Op const& op, View const& output) {
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    if (&op.outputs[i] == &output) return is_in_place(op, i);
  refuse_graph(op.name, "", "is asked about a view that is none of its outputs");
}

void set_in_place(Op& op, TensorId tensor, bool in_place) {
  for (int i = 0; i < static_cast<int>(op.outputs.size()); ++i) {
    if (tensor < 0 || op.outputs[static_cast<std::size_t>(i)].tensor != tensor) continue;
    std::erase(op.in_place, i);
    if (in_place) op.in_place.push_back(i);
  }
}

bool writes(Op const& op, TensorId tensor) {
  return tensor >= 0 && std::ranges::count(op.outputs, tensor, &View::tensor) > 0;
}

std::int64_t traffic_bytes(Op const& op, IdVector<Tensor> const& tensors) {
  auto const bytes = [&](View const& view) {
    return element_count(view.shape) * size_bytes(tensor_of(view, tensors).dtype);
  };
  if (op.kind == OpKind::tree_sum) {  // it sums only this rank's slice of the gradient
    auto const& parts = operands<OpKind::tree_sum>(op).parts;
    return bytes(parts) + bytes(parts) / parts.shape[0];
  }
  std::int64_t total = 0;
  for (auto const& view : present(op.inputs)) total += bytes(view);
  for (auto const& view : present(op.outputs)) total += bytes(view);
  for (auto const index : op.in_place) total += bytes(op.outputs[static_cast<std::size_t>(index)]);
  return total;
}

std::string cost_key(Op const& op, IdVector<Tensor> const& tensors) {
  std::string key(name(op.kind));
  for (auto const& view : op.inputs) key += fmt::format(" {}", describe(view, tensors));
  key += " ->";
  for (auto const& view : op.outputs) key += fmt::format(" {}", describe(view, tensors));
  // Scalars are left out: all micro-batches but the first add to them, which takes no time.
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (is_in_place(op, i) && tensor_of(op.outputs[i], tensors).role != Role::scalar)
      key += fmt::format(" in_place={}", i);
  }
  for (auto const& [term, value] : cost_terms(op.attributes))
    key += fmt::format(" {}={}", term, value);
  return key;
}

void fail_for_attributes(Op const& op) {
  throw std::logic_error(
      fmt::format("{}: a {} op with the attributes of another kind", op.name, name(op.kind)));
}

}  // namespace spillway
