// The op `attention` computes o = softmax(scale q k^T + bias) v for each head, over the keys that a
// query sees. It works by tiles with an online softmax (Dao, FlashAttention-2, arXiv:2307.08691),
// and keeps the log-sum-exp of every row for the backward pass.
#include <cmath>

#include "kernels/host/attention_tiles.hpp"
#include "kernels/host/deal.hpp"

namespace spillway::host {
namespace {

Label const label = "spillway::attention";

// The running maximum of a row's scores begins with this number. It is finite, so that a difference
// of two maxima is never NaN.
constexpr float kLowest = -1e30f;

// A unit of work has at most this many tiles of queries, which share packed keys. It has fewer if
// threads would otherwise lack work.
constexpr std::int64_t kTilesOfQueries = 4;

// Returns how many queries a unit of work has, in whole tiles. The number changes no result.
std::int64_t block_of_queries(AttentionShape const& s) {
  auto tiles = std::min(kTilesOfQueries, div_ceil(s.queries, s.tile));
  auto const units = [&] { return s.batch * s.heads * div_ceil(s.queries, tiles * s.tile); };
  while (tiles > 1 && units() < 4 * s.workers) --tiles;
  return tiles * s.tile;
}

// Holds the byte offsets of the arrays in a worker's scratch.
struct Scratch {
  std::int64_t queries;  // number of queries of a unit of work, not an offset
  // Packed panels are in q (of the queries of a unit of work), in k and v (of a tile of keys) and
  // in weights (of the softmax weights of kPanel queries).
  std::int64_t q, k, v, weights;
  std::int64_t scores;    // scores of a panel of queries [kPanel, strip_stride]
  std::int64_t o;         // sums for o [queries, width]
  std::int64_t top, sum;  // [queries]: running maxima (top), sums of exponentials (sum)
  std::int64_t total_bytes;

  Scratch(AttentionShape const& s, TileKernels const& kernels) {
    auto const head_bytes = kernels.panel_bytes(s.head_size);
    queries = block_of_queries(s);
    ScratchPlan plan;
    q = plan.bytes(panel_count(queries) * head_bytes);
    k = plan.bytes(panel_count(s.tile) * head_bytes);
    v = plan.bytes(panel_count(s.width) * kernels.panel_bytes(s.tile));
    weights = plan.bytes(kernels.panel_bytes(s.tile));
    scores = plan.floats(kPanel * s.strip_stride());
    o = plan.floats(queries * s.width);
    top = plan.floats(queries);
    sum = plan.floats(queries);
    total_bytes = plan.total_bytes();
  }
};

// Combines the first 2 * width elements of `lane` into lane[0], by halves: the upper half is
// combined into the lower one, then the upper half of that, and so on.
template <int width, class Combine>
void fold(float* lane, Combine const& combine) {
#pragma omp simd
  for (int l = 0; l < width; ++l) lane[l] = combine(lane[l], lane[l + width]);
  if constexpr (width > 1) fold<width / 2>(lane, combine);
}

constexpr auto larger = [](float a, float b) { return a > b ? a : b; };
constexpr auto sum_of = [](float a, float b) { return a + b; };

// Returns the largest of `lowest` and all factor * x[j]; a NaN may go unnoticed. n must be a
// multiple of kPanel.
float largest(float const* __restrict__ x, std::int64_t n, float factor, float lowest) {
  alignas(64) float top[kStripLanes];
  for (auto& lane : top) lane = lowest;
  for (std::int64_t j = 0; j < n; j += kStripLanes)
#pragma omp simd
    for (int l = 0; l < kStripLanes; ++l) top[l] = larger(factor * x[j + l], top[l]);
  fold<kStripLanes / 2>(top, larger);
  return top[0];
}

// Replaces each x[j] by 2^(factor * x[j] - top) and returns the sum of the new values, added in an
// order that n alone decides.
float exponentiate(float* __restrict__ x, std::int64_t n, float factor, float top) {
  alignas(64) float sum[kStripLanes] = {};
  for (std::int64_t j = 0; j < n; j += kStripLanes)
#pragma omp simd
    for (int l = 0; l < kStripLanes; ++l) {
      x[j + l] = weight_exp2(std::fma(factor, x[j + l], -top));
      sum[l] += x[j + l];
    }
  fold<kStripLanes / 2>(sum, sum_of);
  return sum[0];
}

template <class T>
struct Attention {
  HeadRows<T const> q, k, v;
  Scores scores;
  WeightDropout dropout;
  HeadRows<T> o;
  float* lse;
  std::byte* workspace;
  TileKernels const* kernels;
  Scratch scratch;
  AttentionShape shape;

  std::int64_t blocks() const { return div_ceil(shape.queries, scratch.queries); }

  // Computes a unit of work: `scratch.queries` successive queries of one head. The last queries,
  // which see the most keys under a causal mask, come first.
  void operator()(std::int64_t worker, std::int64_t unit) const {
    auto const pair = unit / blocks();
    auto const first = (blocks() - 1 - unit % blocks()) * scratch.queries;
    attend(workspace + worker * scratch.total_bytes,
           {pair / shape.heads,
            pair % shape.heads,
            {first, std::min(first + scratch.queries, shape.queries)}});
  }

 private:
  struct Queries {
    std::int64_t sequence, head;
    RowRange rows;
  };

  void attend(std::byte* base, Queries const& at) const {
    RowFactor const rows(*kernels, HeadBlock(q, at.sequence, at.rows, at.head).by_row,
                         base + scratch.q);
    fill(floats(base, scratch.top), at.rows.size(), kLowest);
    fill(floats(base, scratch.sum), at.rows.size(), 0);
    fill(floats(base, scratch.o), at.rows.size() * shape.width, 0);

    auto const seen = shape.keys_of(at.rows);
    for (auto j = shape.tile_start(seen.first); j < seen.past; j += shape.tile) {
      auto const keys = shape.tile_at(j, seen.past);
      if (!scores.may_meet(at.sequence, at.rows, keys)) continue;
      auto const kv_head = at.head / shape.group();
      kernels->pack_b(HeadBlock(k, at.sequence, keys, kv_head).by_row, base + scratch.k);
      kernels->pack_b(HeadBlock(v, at.sequence, keys, kv_head).by_column, base + scratch.v);
      for (std::int64_t i = 0; i < at.rows.size(); i += kPanel) add_keys(base, rows, at, i, keys);
    }
    finish(base, at);
  }

  // Adds what one tile of keys contributes to kPanel queries, which begin at row i of at.rows.
  void add_keys(std::byte* base, RowFactor const& rows, Queries const& at, std::int64_t i,
                RowRange keys) const {
    auto const first = at.rows.first + i;
    RowRange const queries{first, std::min(first + kPanel, at.rows.past)};
    auto const seen = intersection(shape.keys_of(queries), keys);
    if (seen.empty() || !scores.may_meet(at.sequence, queries, seen)) return;
    auto const panels = panels_of(seen, keys.first);
    auto const columns = panels.size() * kPanel, skipped = panels.first * kPanel;
    auto* const strips = floats(base, scratch.scores);

    TileProduct product{
        .b = base + scratch.k + panels.first * kernels->panel_bytes(shape.head_size),
        .c = strips,
        .c_stride = shape.strip_stride(),
        .b_panels = panels.size()};
    rows.choose(i / kPanel, product);
    kernels->product(product);
    if (scores.need_finishing())
      for (std::int64_t r = 0; r < queries.size(); ++r)
        scores.finish_keys(strips + r * shape.strip_stride(), columns, at.sequence, at.head,
                           queries.first + r, keys.first + skipped);
    weigh(base, i, queries, keys.first + skipped, columns);
    if (dropout.drops()) drop(strips, at, queries, keys.first + skipped, columns);
    kernels->pack_a(scratch_rows(strips, shape.strip_stride(), queries.size(), columns),
                    base + scratch.weights);
    kernels->product({.a = base + scratch.weights,
                      .b = base + scratch.v,
                      .c = floats(base, scratch.o) + i * shape.width,
                      .c_stride = shape.width,
                      .rows = queries.size(),
                      .b_panels = panel_count(shape.width),
                      .depth = columns,
                      .add = true,
                      .b_depth = padded_depth(keys.size()),
                      .b_first = skipped});
  }

  // Turns scores of the keys [first, first + n) into weights 2^(factor * score - top), or into 0
  // for keys that a query does not see. The running sums of `queries`, which begin at row i, are
  // scaled to the queries' new maxima (top).
  void weigh(std::byte* base, std::int64_t i, RowRange queries, std::int64_t first,
             std::int64_t n) const {
    float const factor = scores.factor();
    auto const rows = queries.size(), stride = shape.strip_stride();
    float* const strips = floats(base, scratch.scores);
    float *const top = floats(base, scratch.top) + i, *const sum = floats(base, scratch.sum) + i;
    float new_top[kPanel], shrink[kPanel];
    for (std::int64_t r = 0; r < rows; ++r) {
      auto const query = queries.first + r;
      auto const seen = intersection(shape.keys_of({query, query + 1}), {first, first + n});
      if (seen.size() < n) fill_outside(strips + r * stride, n, seen, first, -kInfinity);
      new_top[r] = largest(strips + r * stride, n, factor, top[r]);
    }
#pragma omp simd
    for (std::int64_t r = 0; r < rows; ++r) {
      shrink[r] = weight_exp2(top[r] - new_top[r]);
      top[r] = new_top[r];
      sum[r] *= shrink[r];
    }
    for (std::int64_t r = 0; r < rows; ++r)
      sum[r] += exponentiate(strips + r * stride, n, factor, top[r]);
    float* const o_rows = floats(base, scratch.o) + i * shape.width;
    for (std::int64_t r = 0; r < rows; ++r)
      if (shrink[r] != 1)
#pragma omp simd
        for (std::int64_t c = 0; c < shape.width; ++c) o_rows[r * shape.width + c] *= shrink[r];
  }

  // Applies dropout to weights that have already been summed, because a softmax divides by the sum
  // of all weights.
  void drop(float* strips, Queries const& at, RowRange queries, std::int64_t first,
            std::int64_t n) const {
    auto const head_key = dropout.head_key(at.sequence, at.head);
    for (std::int64_t r = 0; r < queries.size(); ++r)
      dropout.drop_keys(strips + r * shape.strip_stride(), n, head_key, queries.first + r, first);
  }

  void finish(std::byte* base, Queries const& at) const {
    auto* const row_lse =
        lse + (at.sequence * shape.heads + at.head) * shape.queries + at.rows.first;
    for (std::int64_t i = 0; i < at.rows.size(); ++i) {
      float const sum = floats(base, scratch.sum)[i];
      bool const blind = sum == 0 && scores.segments_q;  // the query saw no key
      row_lse[i] = blind ? kInfinity : (floats(base, scratch.top)[i] + std::log2(sum)) * kLn2;
      store_scaled(floats(base, scratch.o) + i * shape.width, blind ? 0 : 1 / sum, shape.head_size,
                   o.at(at.sequence, at.rows.first + i, at.head));
    }
  }
};

template <class T>
struct BoundAttention {
  AttentionStrides stride;
  AttentionShape s;
  TileKernels const* kernels;
  Scratch scratch;

  BoundAttention(Op const& op, AttentionShape const& shape, TileKernels const& tiles)
      : stride(attention_strides(op)), s(shape), kernels(&tiles), scratch(shape, tiles) {}

  void operator()(Exec const& exec, void* const* operands) const {
    auto const p = Pointers<OpKind::attention, T>::of(operands);
    auto const shape = s.placed(p.positions);
    Attention<T> const kernel{.q = {p.q, stride.q, s.queries, s.head_size},
                              .k = {p.k, stride.k, s.keys, s.head_size},
                              .v = {p.v, stride.v, s.keys, s.head_size},
                              .scores = Scores(p, shape),
                              .dropout = WeightDropout(p.samples, s),
                              .o = {p.o, stride.o, s.queries, s.head_size},
                              .lse = p.lse,
                              .workspace = static_cast<std::byte*>(p.workspace),
                              .kernels = kernels,
                              .scratch = scratch,
                              .shape = shape};
    deal_units(exec, label, s.batch * s.heads * kernel.blocks(), s.workers, kernel);
  }
};

std::int64_t workspace(KernelContext const& context, Op const& op) {
  auto const shape = attention_shape(context, op);
  return shape.workers * Scratch(shape, attention_kernels(context, op)).total_bytes;
}

}  // namespace

Kernel kernel_attention() {
  return {bind_attention<BoundAttention>, serial_attention, workspace};
}

}  // namespace spillway::host
