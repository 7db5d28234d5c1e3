#include "kernels/attention_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/error.hpp"

namespace spillway {
namespace {

std::string refusal(AttentionDescriptor const& d) {
  if (d.mask == MaskKind::documents) return "a mask of documents";
  if (d.bias) return "a bias on scores";
  if (d.mask == MaskKind::none && d.window > 0) return "a window without a causal mask";
  if (d.mask == MaskKind::causal && d.queries != d.keys)
    return "a causal mask over unequal numbers of queries and keys";
  return {};
}

}  // namespace

AttentionShape attention_shape(KernelContext const& context, Op const& op) {
  auto const d = attention_descriptor(op.attributes);
  if (auto const what = refusal(d); !what.empty())
    throw Error(Status::bad_input,
                fmt::format("{}: attention with {} is not offered", op.name, what));

  auto const tile = std::min(op.attributes.integer("tile"), std::max(d.queries, d.keys));
  return {.batch = d.batch,
          .queries = d.queries,
          .keys = d.keys,
          .heads = d.heads,
          .kv_heads = d.kv_heads,
          .head_size = d.head_size,
          .tile = tile,
          .side = round_up(tile, kTileLanes),
          .width = round_up(d.head_size, kTileLanes),
          .window = d.window > 0 ? d.window : std::numeric_limits<std::int64_t>::max() / 2,
          .causal = d.mask == MaskKind::causal,
          .scale = static_cast<float>(d.scale),
          .workers = std::max<std::int64_t>(context.arithmetic.threads, 1)};
}

std::vector<std::int64_t> row_strides(Op const& op) {
  std::vector<std::int64_t> strides;
  for (auto const* views : {&op.inputs, &op.outputs})
    for (auto const& view : *views) {
      assert(view.strides.back() == 1);
      strides.push_back(view.strides[0]);
    }
  return strides;
}

}  // namespace spillway
