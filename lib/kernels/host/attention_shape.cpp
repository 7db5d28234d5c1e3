#include "kernels/host/attention_shape.hpp"

#include <fmt/core.h>

#include <limits>
#include <string>

#include "base/error.hpp"
#include "graph/operands.hpp"

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

}  // namespace spillway::host
