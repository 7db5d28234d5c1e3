// The op `attention_backward` follows FlashAttention-2 (Dao, arXiv:2307.08691). With p the weights,
// made again from q, k and the rows' log-sum-exp, it computes:
//   delta = rowsum(do * o)   dp = do v^T   ds = p * (dp - delta)
//   dq = scale ds k          dk = scale ds^T q          dv = p^T do
// The gradient of the bias is the sum of ds over equal distances, for all sequences. Dropout
// multiplies dp and the p in the formula of dv by factors, but not the p in the formula of ds. All
// sums run over tiles in ascending order, so any division of the work gives the same bits.
#include <cmath>

#include "kernels/host/attention_tiles.hpp"
#include "kernels/host/deal.hpp"
#include "kernels/portable/host_row.hpp"

namespace spillway::host {
namespace {

Label const label = "spillway::attention_backward";

constexpr std::int64_t kMostSumBytes = 4 << 20;  // limit for the sums of dk and dv of a key head

// Says how the work is divided among threads.
enum class Division : std::uint8_t {
  heads,  // a unit of work is a key head: p and ds are computed once for dq, dk and dv
  tiles,  // a unit is a tile of queries (dq) or of keys (dk, dv): p and ds are computed twice
};

// Chooses Division::tiles if a division by heads would leave workers idle for more than a third of
// the time, or if the sums for a head would exceed kMostSumBytes.
Division division(AttentionShape const& s) {
  auto const units = s.batch * s.kv_heads;
  bool const busy = div_ceil(units, s.workers) * s.workers * 2 <= units * 3;
  auto const sum_bytes = 2 * round_up(s.keys, s.tile) * s.width * size_bytes(DType::f32);
  return busy && sum_bytes <= kMostSumBytes ? Division::heads : Division::tiles;
}

// Holds the byte offsets of the arrays in a worker's scratch. Scores are stored as [keys, queries].
struct Scratch {
  std::int64_t q_lines, d_o_lines;  // panels of rows of q (for k q^T) and of do (for v do^T)
  std::int64_t q_depth, d_o_depth;  // panels of columns of q (for ds^T q) and of do (for p^T do)
  std::int64_t k_lines, v_lines;    // panels of rows of k and of v, unless rows are read in place
  std::int64_t k_depth;             // panels of columns of k (for ds k)
  std::int64_t factor;              // a packed panel of weights or of derivatives of scores
  std::int64_t weights;             // softmax weights [kPanel, strip_stride]
  std::int64_t slopes;              // derivatives of scores [tile, strip_stride]
  std::int64_t factors;             // factors of dropout [kDropoutDraws, strip_stride]
  std::int64_t lse, delta;          // [tile]: log-sum-exp (lse, to base 2), rowsum(do * o) (delta)
  std::int64_t dq, dk, dv;          // sums: dq [tile, width], dk and dv [tile or all keys, width]
  std::int64_t sum_floats;          // number of floats in each of dk and dv (not an offset)
  std::int64_t total_bytes;

  Scratch(AttentionShape const& s, TileKernels const& kernels) {
    auto const by_row = panel_count(s.tile) * kernels.panel_bytes(s.head_size);
    auto const by_column = panel_count(s.width) * kernels.panel_bytes(s.tile);
    bool const whole = division(s) == Division::heads;
    sum_floats = (whole ? round_up(s.keys, s.tile) : s.tile) * s.width;
    ScratchPlan plan;
    for (auto* const panels : {&q_lines, &d_o_lines, &k_lines, &v_lines})
      *panels = plan.bytes(by_row);
    for (auto* const panels : {&q_depth, &d_o_depth, &k_depth}) *panels = plan.bytes(by_column);
    factor = plan.bytes(kernels.panel_bytes(s.tile));
    weights = plan.floats(kPanel * s.strip_stride());
    slopes = plan.floats(s.tile * s.strip_stride());
    factors = plan.floats(s.dropout > 0 ? kDropoutDraws * s.strip_stride() : 0);
    lse = plan.floats(s.tile);
    delta = plan.floats(s.tile);
    dq = plan.floats(s.tile * s.width);
    dk = plan.floats(sum_floats);
    dv = plan.floats(sum_floats);
    total_bytes = plan.total_bytes();
  }
};

// For one key and n queries, turns `weights` from scores into softmax weights, and `slopes` from
// derivatives with respect to weights into derivatives with respect to scores.
void differentiate(float* __restrict__ weights, float* __restrict__ slopes,
                   float const* __restrict__ lse, float const* __restrict__ delta, std::int64_t n,
                   float factor) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    weights[i] = weight_exp2(std::fma(factor, weights[i], -lse[i]));
    slopes[i] = weights[i] * (slopes[i] - delta[i]);
  }
}

// For one key and n queries whose dropout factors are `dropped`, turns `weights` from scores into
// dropped softmax weights, and `slopes` from derivatives with respect to dropped weights into
// derivatives with respect to scores.
void differentiate_dropped(float* __restrict__ weights, float* __restrict__ slopes,
                           float const* __restrict__ lse, float const* __restrict__ delta,
                           float const* __restrict__ dropped, std::int64_t n, float factor) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    float const weight = weight_exp2(std::fma(factor, weights[i], -lse[i]));
    slopes[i] = weight * (dropped[i] * slopes[i] - delta[i]);
    weights[i] = weight * dropped[i];
  }
}

// Says which gradients a unit of work computes, and for which queries and keys.
struct Task {
  std::int64_t sequence;
  RowRange heads;  // query heads, which all read one key head
  RowRange queries, keys;
  bool want_dq, want_dkv;
};

template <class T>
struct Gradients {
  GradientOperands<T> in;
  std::byte* workspace;
  TileKernels const* kernels;
  Scratch scratch;
  AttentionShape shape;
  BiasSums bias;

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
  void of_bias(std::int64_t, std::int64_t head) const { bias.collect(head, in.d_bias); }

 private:
  // Describes a tile of queries of one head. Its packed panels lie in the scratch at `base`.
  struct Queries {
    std::byte* base;
    std::int64_t sequence, head;
    RowRange rows;
    float* bias;  // sums for the bias's gradient; null if the task adds none
  };

  RowRange group_of(std::int64_t kv_head) const {
    return {kv_head * shape.group(), (kv_head + 1) * shape.group()};
  }

  void add(std::int64_t worker, Task const& task) const {
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
    if (task.want_dkv) store_keys(base, task);
  }

  // Returns where `task` sums the gradient of the bias for a tile of queries, or null if it does
  // not. Only the task that computes dq of the tile sums it, because each tile has exactly one such
  // task.
  float* bias_sums(Task const& task, std::int64_t head, std::int64_t first_query) const {
    if (!bias.sums || !task.want_dq) return nullptr;
    auto* const sums = bias.of_tile(task.sequence, head, first_query);
    fill(sums, BiasSums::length(shape), 0);
    return sums;
  }

  void add_queries(Queries const& at, Task const& task) const {
    auto const seen = shape.keys_of(at.rows);
    auto const keys = intersection({shape.tile_start(seen.first), seen.past}, task.keys);
    if (keys.empty()) return;
    load(at);
    for (auto j = keys.first; j < keys.past; j += shape.tile) {
      auto const tile = shape.tile_at(j, keys.past);
      if (in.scores.may_meet(at.sequence, at.rows, tile))
        add_keys(at, tile, j - task.keys.first, task);
    }
    if (task.want_dq)
      for (auto query = at.rows.first; query < at.rows.past; ++query)
        store_scaled(floats(at.base, scratch.dq) + (query - at.rows.first) * shape.width,
                     shape.scale, shape.head_size, in.dq.at(at.sequence, query, at.head));
  }

  void load(Queries const& at) const {
    HeadBlock const q(in.q, at.sequence, at.rows, at.head);
    HeadBlock const d_o(in.d_o, at.sequence, at.rows, at.head);
    kernels->pack_b(q.by_row, at.base + scratch.q_lines);
    kernels->pack_b(q.by_column, at.base + scratch.q_depth);
    kernels->pack_b(d_o.by_row, at.base + scratch.d_o_lines);
    kernels->pack_b(d_o.by_column, at.base + scratch.d_o_depth);
    fill(floats(at.base, scratch.dq), shape.tile * shape.width, 0);
    float *const lse = floats(at.base, scratch.lse), *const delta = floats(at.base, scratch.delta);
    fill(lse, shape.tile, kInfinity);  // makes weights beyond the last query 0
    fill(delta, shape.tile, 0);
    auto const* const row_lse = in.lse + (at.sequence * shape.heads + at.head) * shape.queries;
    for (auto query = at.rows.first; query < at.rows.past; ++query) {
      auto const* const o = in.o.at(at.sequence, query, at.head);
      auto const* const slope = in.d_o.at(at.sequence, query, at.head);
      lse[query - at.rows.first] = row_lse[query] * kLog2E;
      delta[query - at.rows.first] = sum_in_lanes<float>(
          shape.head_size, [&](std::int64_t c) { return to_float(o[c]) * to_float(slope[c]); });
    }
  }

  // Adds what a tile of keys contributes to those of dq, dk and dv that `task` wants. The tile
  // begins at row `row` of the sums of dk and dv.
  void add_keys(Queries const& at, RowRange keys, std::int64_t row, Task const& task) const {
    auto const kv_head = at.head / shape.group();
    HeadBlock const k(in.k, at.sequence, keys, kv_head), v(in.v, at.sequence, keys, kv_head);
    RowFactor const k_rows(*kernels, k.by_row, at.base + scratch.k_lines);
    RowFactor const v_rows(*kernels, v.by_row, at.base + scratch.v_lines);
    for (std::int64_t j = 0; j < keys.size(); j += kPanel) {
      TileProduct scores{}, slopes{};
      k_rows.choose(j / kPanel, scores);
      v_rows.choose(j / kPanel, slopes);
      auto const first = keys.first + j;
      add_key_panel(at, {first, first + scores.rows}, j, scores, slopes,
                    task.want_dkv ? row + j : -1);
    }
    if (!task.want_dq) return;
    kernels->pack_b(k.by_column, at.base + scratch.k_depth);
    for (std::int64_t i = 0; i < at.rows.size(); i += kPanel) add_to_dq(at, i, keys);
  }

  // Computes the derivatives of the scores of a panel of keys, which begins at row j of its tile.
  // Unless `row` is negative, adds what these keys get to the sums of dk and dv, from row `row` on.
  void add_key_panel(Queries const& at, RowRange keys, std::int64_t j, TileProduct& scores,
                     TileProduct& slopes, std::int64_t row) const {
    auto const seen = intersection(shape.queries_of(keys), at.rows);
    if (seen.empty()) return;
    auto const panels = panels_of(seen, at.rows.first);
    auto const skipped = panels.first * kPanel, columns = panels.size() * kPanel;
    scores.c = floats(at.base, scratch.weights);
    slopes.c = floats(at.base, scratch.slopes) + j * shape.strip_stride() + skipped;
    scores.b = at.base + scratch.q_lines + panels.first * kernels->panel_bytes(shape.head_size);
    slopes.b = at.base + scratch.d_o_lines + panels.first * kernels->panel_bytes(shape.head_size);
    for (auto* const product : {&scores, &slopes}) {
      product->c_stride = shape.strip_stride();
      product->b_panels = panels.size();
      kernels->product(*product);
    }
    auto const first = at.rows.first + skipped, stride = shape.strip_stride();
    float const factor = in.scores.factor();
    float const* const lse = floats(at.base, scratch.lse) + skipped;
    float const* const delta = floats(at.base, scratch.delta) + skipped;
    if (in.scores.need_finishing())
      for (std::int64_t r = 0; r < keys.size(); ++r)
        in.scores.finish_queries(scores.c + r * stride, columns, at.sequence, at.head,
                                 keys.first + r, first);
    float* const factors = floats(at.base, scratch.factors);
    for (std::int64_t r = 0; r < keys.size(); ++r) {
      RowRange const key{keys.first + r, keys.first + r + 1};
      fill_outside(scores.c + r * stride, columns, shape.queries_of(key), first, -kInfinity);
      if (!in.dropout.drops()) {
        differentiate(scores.c + r * stride, slopes.c + r * stride, lse, delta, columns, factor);
        continue;
      }
      auto const draw = r % kDropoutDraws;
      if (draw == 0)
        in.dropout.factors_of_keys(factors, stride, in.dropout.head_key(at.sequence, at.head),
                                   key.first, first, columns);
      differentiate_dropped(scores.c + r * stride, slopes.c + r * stride, lse, delta,
                            factors + draw * stride, columns, factor);
    }
    if (at.bias)
      for (std::int64_t r = 0; r < keys.size(); ++r)
        bias.add(at.bias, keys.first + r, skipped, slopes.c + r * stride, columns);
    if (row < 0) return;
    auto const row_bytes = shape.width * size_bytes(DType::f32);
    add_to_keys(at, scores, scratch.d_o_depth, scratch.dv + row * row_bytes, skipped);
    add_to_keys(at, slopes, scratch.q_depth, scratch.dk + row * row_bytes, skipped);
  }

  // Adds made.c * b to sums (`b` and `sums` are byte offsets in scratch). Rows of made.c are keys.
  void add_to_keys(Queries const& at, TileProduct const& made, std::int64_t b, std::int64_t sums,
                   std::int64_t skipped) const {
    auto const depth = made.b_panels * kPanel;
    kernels->pack_a(scratch_rows(made.c, made.c_stride, made.rows, depth),
                    at.base + scratch.factor);
    kernels->product({.a = at.base + scratch.factor,
                      .b = at.base + b,
                      .c = floats(at.base, sums),
                      .c_stride = shape.width,
                      .rows = made.rows,
                      .b_panels = panel_count(shape.width),
                      .depth = depth,
                      .add = true,
                      .b_depth = padded_depth(at.rows.size()),
                      .b_first = skipped});
  }

  // Adds derivatives of scores times k to dq of kPanel queries, from row i of their tile on.
  void add_to_dq(Queries const& at, std::int64_t i, RowRange keys) const {
    RowRange const queries{at.rows.first + i, std::min(at.rows.first + i + kPanel, at.rows.past)};
    auto const seen = intersection(shape.keys_of(queries), keys);
    if (seen.empty()) return;
    auto const panels = panels_of(seen, keys.first);
    auto const skipped = panels.first * kPanel;
    TileSource const slopes{
        .data = floats(at.base, scratch.slopes) + skipped * shape.strip_stride() + i,
        .dtype = DType::f32,
        .depth_contiguous = false,
        .stride = shape.strip_stride(),
        .lines = queries.size(),
        .depth = std::min(panels.past * kPanel, keys.size()) - skipped};
    kernels->pack_a(slopes, at.base + scratch.factor);
    kernels->product({.a = at.base + scratch.factor,
                      .b = at.base + scratch.k_depth,
                      .c = floats(at.base, scratch.dq) + i * shape.width,
                      .c_stride = shape.width,
                      .rows = queries.size(),
                      .b_panels = panel_count(shape.width),
                      .depth = padded_depth(slopes.depth),
                      .add = true,
                      .b_depth = padded_depth(keys.size()),
                      .b_first = skipped});
  }

  void store_keys(std::byte* base, Task const& task) const {
    auto const kv_head = task.heads.first / shape.group();
    for (auto key = task.keys.first; key < task.keys.past; ++key) {
      auto const row = (key - task.keys.first) * shape.width;
      store_scaled(floats(base, scratch.dk) + row, shape.scale, shape.head_size,
                   in.dk.at(task.sequence, key, kv_head));
      store_scaled(floats(base, scratch.dv) + row, 1, shape.head_size,
                   in.dv.at(task.sequence, key, kv_head));
    }
  }
};

template <class T>
struct BoundGradients {
  AttentionStrides stride;
  AttentionShape s;
  TileKernels const* kernels;
  Scratch scratch;

  BoundGradients(Op const& op, AttentionShape const& shape, TileKernels const& tiles)
      : stride(attention_strides(op)), s(shape), kernels(&tiles), scratch(shape, tiles) {}

  void operator()(Exec const& exec, void* const* operands) const {
    auto const p = Pointers<OpKind::attention_backward, T>::of(operands);
    auto const in = gradient_operands<T>(p, stride, s);
    auto* const workspace = static_cast<std::byte*>(p.workspace);
    auto* const sums = in.d_bias ? floats(workspace, s.workers * scratch.total_bytes) : nullptr;
    Gradients<T> const gradients{in, workspace, kernels, scratch, s, {sums, s}};
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
  Scratch const scratch(shape, attention_kernels(context, op));
  bool const sums_bias = is_present(operands<OpKind::attention_backward>(op).ddistance_bias);
  return shape.workers * scratch.total_bytes + (sums_bias ? BiasSums::bytes(shape) : 0);
}

}  // namespace

Kernel kernel_attention_backward() {
  return {bind_attention<BoundGradients>, serial_attention_backward, workspace};
}

}  // namespace spillway::host
