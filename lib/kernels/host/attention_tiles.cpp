#include "kernels/host/attention_tiles.hpp"

#include <fmt/core.h>

#include <cassert>
#include <limits>

#include "base/error.hpp"

namespace spillway::host {
namespace {

constexpr auto kUnlimited = std::numeric_limits<std::int64_t>::max() / 2;

bool has_one_of_two(View const& a, View const& b) {
  return is_present(a) != is_present(b);
}

// The operands from `first` on: segments of queries and keys, bias, samples.
std::string refusal(AttentionAttributes const& a, View const* first, bool has_positions) {
  if (has_positions && a.batch != 1) return "positions of several sequences";
  if ((a.causal || a.window > 0) && a.queries != a.keys && !has_positions)
    return "a causal mask or a window over unequal numbers of queries and keys";
  if (has_one_of_two(first[0], first[1])) return "segments of queries alone, or of keys";
  if (!(a.dropout >= 0 && a.dropout < 1)) return fmt::format("dropout of {} of all", a.dropout);
  if (a.dropout > 0 && !is_present(first[3])) return "dropout and no numbers of samples";
  return {};
}

}  // namespace

AttentionShape attention_shape(KernelContext const& context, Op const& op) {
  auto const& a = attributes_of<AttentionAttributes>(op);
  bool const is_forward = op.kind == OpKind::attention;
  bool const has_positions = is_forward && is_present(op.inputs[7]);
  auto const first = is_forward ? 3u : 6u;
  if (auto const what = refusal(a, op.inputs.data() + first, has_positions); !what.empty())
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
          .places = has_positions ? a.keys : a.queries};
}

std::vector<std::int64_t> row_strides(Op const& op) {
  std::vector<std::int64_t> strides;
  for (auto const* views : {&op.inputs, &op.outputs})
    for (auto const& view : *views) strides.push_back(row_stride(view));
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

}  // namespace spillway::host
