#include "kernels/host/attention_gradients.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/portable/host_row.hpp"

namespace spillway::host {
namespace {

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

}  // namespace

template <class T>
void TileGradients<T>::load(QueryTile const& at) const {
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

template <class T>
void TileGradients<T>::add_keys(QueryTile const& at, RowRange keys, std::int64_t row,
                                GradientTask const& task) const {
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
template <class T>
void TileGradients<T>::add_key_panel(QueryTile const& at, RowRange keys, std::int64_t j,
                                     TileProduct& scores, TileProduct& slopes,
                                     std::int64_t row) const {
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
      in.scores.finish_queries(scores.c + r * stride, columns, at.sequence, at.head, keys.first + r,
                               first);
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
template <class T>
void TileGradients<T>::add_to_keys(QueryTile const& at, TileProduct const& made, std::int64_t b,
                                   std::int64_t sums, std::int64_t skipped) const {
  auto const depth = made.b_panels * kPanel;
  kernels->pack_a(scratch_rows(made.c, made.c_stride, made.rows, depth), at.base + scratch.factor);
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
template <class T>
void TileGradients<T>::add_to_dq(QueryTile const& at, std::int64_t i, RowRange keys) const {
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

template <class T>
void TileGradients<T>::store_queries(QueryTile const& at) const {
  for (auto query = at.rows.first; query < at.rows.past; ++query)
    store_scaled(floats(at.base, scratch.dq) + (query - at.rows.first) * shape.width, shape.scale,
                 shape.head_size, in.dq.at(at.sequence, query, at.head));
}

template <class T>
void TileGradients<T>::store_keys(std::byte* base, GradientTask const& task) const {
  auto const kv_head = task.heads.first / shape.group();
  for (auto key = task.keys.first; key < task.keys.past; ++key) {
    auto const row = (key - task.keys.first) * shape.width;
    store_scaled(floats(base, scratch.dk) + row, shape.scale, shape.head_size,
                 in.dk.at(task.sequence, key, kv_head));
    store_scaled(floats(base, scratch.dv) + row, 1, shape.head_size,
                 in.dv.at(task.sequence, key, kv_head));
  }
}

template struct TileGradients<float>;
template struct TileGradients<bf16>;

}  // namespace spillway::host
