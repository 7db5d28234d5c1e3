#include "graph/op.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace spillway {
namespace {

constexpr std::string_view kNames[] = {
#define SPILLWAY_OP(name, rule) #name,
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
};

Tensor const& tensor_of(View const& view, std::vector<Tensor> const& tensors) {
  return tensors[static_cast<std::size_t>(view.tensor)];
}

std::string describe(View const& view, std::vector<Tensor> const& tensors) {
  auto const dtype = name(tensor_of(view, tensors).dtype);
  auto const shape = fmt::format("{}[{}]", dtype, fmt::join(view.shape, ","));
  return is_contiguous(view) ? shape : fmt::format("{}/{}", shape, fmt::join(view.strides, ","));
}

// These choose random numbers, or whether a few sums begin anew: no work to speak of.
bool is_free(std::string const& attribute) {
  return attribute == "seed" || attribute == "origin" || attribute == "fresh";
}

}  // namespace

std::string_view name(OpKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t traffic_bytes(Op const& op, std::vector<Tensor> const& tensors) {
  auto const bytes = [&](View const& view) {
    return element_count(view.shape) * size_bytes(tensor_of(view, tensors).dtype);
  };
  if (op.kind == OpKind::tree_sum) {  // of the gradient, this rank's slice only
    auto const parts = bytes(op.inputs[0]);
    return parts + parts / op.inputs[0].shape[0];
  }
  std::int64_t total = 0;
  for (auto const& view : op.inputs) total += bytes(view);
  for (auto const& view : op.outputs) total += bytes(view);
  for (auto const index : op.in_place) total += bytes(op.outputs[static_cast<std::size_t>(index)]);
  return total;
}

std::string cost_key(Op const& op, std::vector<Tensor> const& tensors) {
  std::string key(name(op.kind));
  for (auto const& view : op.inputs) key += fmt::format(" {}", describe(view, tensors));
  key += " ->";
  for (auto const& view : op.outputs) key += fmt::format(" {}", describe(view, tensors));
  for (auto const& [attribute, value] : op.attributes.values()) {
    if (!is_free(attribute)) key += fmt::format(" {}={}", attribute, value);
  }
  return key;
}

}  // namespace spillway
