#include "kernels/host/attention_tiles.hpp"

#include <fmt/core.h>

#include <limits>

#include "base/check.hpp"
#include "base/error.hpp"

namespace spillway::host {
namespace {

constexpr auto kUnlimited = std::numeric_limits<std::int64_t>::max() / 2;

// Says which of its optional operands an op has.
struct Present {
  bool segments_q, segments_k, samples, positions;
};

Present present_operands(Op const& op) {
  return with_operands<OpKind::attention, OpKind::attention_backward>(op, [](auto const& o) {
    Present there{is_present(o.segments_q), is_present(o.segments_k), is_present(o.samples), false};
    if constexpr (requires { o.positions; }) there.positions = is_present(o.positions);
    return there;
  });
}

std::string refusal(AttentionAttributes const& a, Present const& there) {
  if (there.positions && a.batch != 1) return "positions of several sequences";
  if ((a.causal || a.window > 0) && a.queries != a.keys && !there.positions)
    return "a causal mask or a window over unequal numbers of queries and keys";
  if (there.segments_q != there.segments_k) return "segments of queries alone, or of keys";
  if (!(a.dropout >= 0 && a.dropout < 1)) return fmt::format("dropout of {} of all", a.dropout);
  if (a.dropout > 0 && !there.samples) return "dropout and no numbers of samples";
  return {};
}

}  // namespace

AttentionShape attention_shape(KernelContext const& context, Op const& op) {
  auto const& a = attributes_of<AttentionAttributes>(op);
  auto const there = present_operands(op);
  if (auto const what = refusal(a, there); !what.empty())
    throw Error(Status::bad_input,
                fmt::format("{}: attention with {} is not offered", op.name, what));

  auto const reach = a.window > 0 ? a.window - 1 : kUnlimited;
  return {.batch = a.batch,
          .queries = a.queries,
          .keys = a.keys,
          .heads = a.heads,
          .kv_heads = a.kv_heads,
          .head_size = a.head_size,
          .tile = round_up(std::min(a.tile, std::max(a.queries, a.keys)), kPanel),
          .width = round_up(a.head_size, kPanel),
          .behind = reach,
          .ahead = a.causal ? 0 : reach,
          .scale = static_cast<float>(a.scale),
          .dropout = static_cast<float>(a.dropout),
          .seed = a.seed,
          .origin = a.origin,
          .workers = std::max<std::int64_t>(context.arithmetic.threads, 1),
          .places = there.positions ? a.keys : a.queries};
}

AttentionStrides attention_strides(Op const& op) {
  return with_operands<OpKind::attention, OpKind::attention_backward>(op, [](auto const& o) {
    AttentionStrides strides{row_stride(o.q), row_stride(o.k), row_stride(o.v), row_stride(o.o)};
    if constexpr (requires { o.d_o; }) {
      strides.d_o = row_stride(o.d_o);
      strides.dq = row_stride(o.dq);
      strides.dk = row_stride(o.dk);
      strides.dv = row_stride(o.dv);
    }
    return strides;
  });
}

RowFactor::RowFactor(TileKernels const& kernels, TileSource const& rows, void* panels)
    : m_rows(rows), m_first(static_cast<std::byte const*>(panels)) {
  check(rows.depth_contiguous, "rows of attention", "their columns lie apart");
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

}  // namespace spillway::host
