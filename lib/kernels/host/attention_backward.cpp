// The op `attention_backward` follows FlashAttention-2 (Dao, arXiv:2307.08691). With p the weights,
// made again from q, k and the rows' log-sum-exp, it computes:
//   delta = rowsum(do * o)   dp = do v^T   ds = p * (dp - delta)
//   dq = scale ds k          dk = scale ds^T q          dv = p^T do
// The gradient of the bias is the sum of ds over equal distances, for all sequences. Dropout
// multiplies dp and the p in the formula of dv by factors, but not the p in the formula of ds. All
// sums run over tiles in ascending order, so any division of the work gives the same bits.
#include "kernels/host/attention_division.hpp"
#include "kernels/host/attention_gradients.hpp"
#include "kernels/host/attention_tiles.hpp"
#include "kernels/host/deal.hpp"

namespace spillway::host {
namespace {

Label const label = "spillway::attention_backward";

// Has the tiles of each unit of work added in ascending order.
template <class T>
struct Gradients {
  TileGradients<T> tiles;
  std::byte* workspace;
  AttentionShape shape;

  void of_head(std::int64_t worker, std::int64_t unit) const {
    add(worker, {unit / shape.kv_heads,
                 group_of(unit % shape.kv_heads),
                 {0, shape.queries},
                 {0, shape.keys},
                 true,
                 true});
  }
  void of_query_tile(std::int64_t worker, std::int64_t unit) const {
    auto const pair = unit / shape.query_tiles(), head = pair % shape.heads;
    auto const first = (shape.query_tiles() - 1 - unit % shape.query_tiles()) * shape.tile;
    add(worker, {pair / shape.heads,
                 {head, head + 1},
                 shape.tile_at(first, shape.queries),
                 {0, shape.keys},
                 true,
                 false});
  }
  void of_key_tile(std::int64_t worker, std::int64_t unit) const {
    auto const pair = unit / shape.key_tiles();
    add(worker, {pair / shape.kv_heads,
                 group_of(pair % shape.kv_heads),
                 {0, shape.queries},
                 shape.tile_at(unit % shape.key_tiles() * shape.tile, shape.keys),
                 false,
                 true});
  }
  void of_bias(std::int64_t, std::int64_t head) const { tiles.bias.collect(head, tiles.in.d_bias); }

 private:
  RowRange group_of(std::int64_t kv_head) const {
    return {kv_head * shape.group(), (kv_head + 1) * shape.group()};
  }

  void add(std::int64_t worker, GradientTask const& task) const {
    auto const& scratch = tiles.scratch;
    auto* const base = workspace + worker * scratch.total_bytes;
    if (task.want_dkv) {
      fill(floats(base, scratch.dk), scratch.sum_floats, 0);
      fill(floats(base, scratch.dv), scratch.sum_floats, 0);
    }
    for (auto head = task.heads.first; head < task.heads.past; ++head)
      for (auto i = task.queries.first; i < task.queries.past; i += shape.tile)
        add_queries(
            {base, task.sequence, head, shape.tile_at(i, shape.queries), bias_sums(task, head, i)},
            task);
    if (task.want_dkv) tiles.store_keys(base, task);
  }

  // Returns where `task` sums the gradient of the bias for a tile of queries, or null if it does
  // not. Only the task that computes dq of the tile sums it, because each tile has exactly one such
  // task.
  float* bias_sums(GradientTask const& task, std::int64_t head, std::int64_t first_query) const {
    if (!tiles.bias.sums || !task.want_dq) return nullptr;
    auto* const sums = tiles.bias.of_tile(task.sequence, head, first_query);
    fill(sums, BiasSums::length(shape), 0);
    return sums;
  }

  void add_queries(QueryTile const& at, GradientTask const& task) const {
    auto const seen = shape.keys_of(at.rows);
    auto const keys = intersection({shape.tile_start(seen.first), seen.past}, task.keys);
    if (keys.empty()) return;
    tiles.load(at);
    for (auto j = keys.first; j < keys.past; j += shape.tile) {
      auto const tile = shape.tile_at(j, keys.past);
      if (tiles.in.scores.may_meet(at.sequence, at.rows, tile))
        tiles.add_keys(at, tile, j - task.keys.first, task);
    }
    if (task.want_dq) tiles.store_queries(at);
  }
};

template <class T>
struct BoundGradients {
  AttentionStrides stride;
  AttentionShape s;
  TileKernels const* kernels;
  GradientScratch scratch;

  BoundGradients(Op const& op, AttentionShape const& shape, TileKernels const& tiles)
      : stride(attention_strides(op)), s(shape), kernels(&tiles), scratch(shape, tiles) {}

  void operator()(Exec const& exec, void* const* operands) const {
    auto const p = Pointers<OpKind::attention_backward, T>::of(operands);
    auto const in = gradient_operands<T>(p, stride, s);
    auto* const workspace = static_cast<std::byte*>(p.workspace);
    auto* const sums = in.d_bias ? floats(workspace, s.workers * scratch.total_bytes) : nullptr;
    Gradients<T> const gradients{{in, kernels, scratch, s, {sums, s}}, workspace, s};
    auto const deal = [&](std::int64_t units, auto part) {
      deal_units(exec, label, units, s.workers,
                 [&](std::int64_t worker, std::int64_t unit) { (gradients.*part)(worker, unit); });
    };
    auto const key_heads = s.batch * s.kv_heads;
    if (division(s) == Division::heads) {
      deal(key_heads, &Gradients<T>::of_head);
    } else {
      deal(s.batch * s.heads * s.query_tiles(), &Gradients<T>::of_query_tile);
      deal(key_heads * s.key_tiles(), &Gradients<T>::of_key_tile);
    }
    if (in.d_bias) deal(s.heads, &Gradients<T>::of_bias);
  }
};

std::int64_t workspace(KernelContext const& context, Op const& op) {
  auto const shape = attention_shape(context, op);
  GradientScratch const scratch(shape, attention_kernels(context, op));
  bool const sums_bias = is_present(operands<OpKind::attention_backward>(op).ddistance_bias);
  return shape.workers * scratch.total_bytes + (sums_bias ? BiasSums::bytes(shape) : 0);
}

}  // namespace

Kernel kernel_attention_backward() {
  return {bind_attention<BoundGradients>, serial_attention_backward, workspace};
}

}  // namespace spillway::host
