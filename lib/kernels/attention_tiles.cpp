#include "kernels/attention_tiles.hpp"

#include <fmt/core.h>

#include <cassert>
#include <limits>

#include "base/error.hpp"

namespace spillway {
namespace {

std::string refusal(AttentionAttributes const& d) {
  if (!kOnHost) return "tiles in a device's memory";
  if (d.mask == MaskKind::documents) return "a mask of documents";
  if (d.mask == MaskKind::none && d.window > 0) return "a window without a causal mask";
  if (d.mask == MaskKind::causal && d.queries != d.keys)
    return "a causal mask over unequal numbers of queries and keys";
  return {};
}

}  // namespace

AttentionShape attention_shape(KernelContext const& context, Op const& op) {
  auto const& d = attributes_of<AttentionAttributes>(op);
  if (auto const what = refusal(d); !what.empty())
    throw Error(Status::bad_input,
                fmt::format("{}: attention with {} is not offered", op.name, what));

  auto const tile = std::min(d.tile, std::max(d.queries, d.keys));
  return {.batch = d.batch,
          .queries = d.queries,
          .keys = d.keys,
          .heads = d.heads,
          .kv_heads = d.kv_heads,
          .head_size = d.head_size,
          .tile = round_up(tile, kPanel),
          .width = round_up(d.head_size, kPanel),
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

RowFactor::RowFactor(TileKernels const& kernels, TileSource const& rows, void* panels)
    : m_rows(rows), m_first(static_cast<std::byte const*>(panels)) {
  assert(rows.depth_contiguous);
  bool const in_place = kernels.reads_in_place(rows);
  m_row_bytes = in_place ? rows.stride * size_bytes(DType::bf16) : 0;
  m_panel_bytes = in_place ? kPanel * m_row_bytes : kernels.panel_bytes(rows.depth);
  if (in_place) {
    m_first = static_cast<std::byte const*>(rows.data);
  } else {
    kernels.pack_a(rows, panels);
  }
}

void RowFactor::choose(std::int64_t panel, TileProduct& product) const {
  product.a = m_first + panel * m_panel_bytes;
  product.a_row_bytes = m_row_bytes;
  product.rows = std::min(kPanel, m_rows.lines - panel * kPanel);
  product.depth = padded_depth(m_rows.depth);
}

}  // namespace spillway
