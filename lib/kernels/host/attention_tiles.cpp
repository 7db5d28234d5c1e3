#include "kernels/host/attention_tiles.hpp"

#include "base/check.hpp"

namespace spillway::host {

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
