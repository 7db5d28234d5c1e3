// Computes dk and dv by tiles of keys. Rows of scores are keys here, and columns are queries.
#pragma once

#include "kernels/cuda/attention_gradients.cuh"
#include "kernels/cuda/attention_key_block.cuh"

namespace spillway::cuda {

// Begins to load the log-sum-exp of kColumns queries of one head to `to`, and delta behind it. What
// lies beyond `queries` becomes 0.
template <int kColumns, int kThreads, class T>
__device__ void load_row_numbers(float* to, BackwardOperands<T> const& a, int sequence, int head,
                                 Rows queries) {
  auto const& s = a.shape;
  auto const at = (std::int64_t{sequence} * s.heads + head) * s.queries + queries.first;
  for (int i = threadIdx.x; i < 2 * kColumns; i += kThreads) {
    int const query = i % kColumns;
    bool const is_there = query < queries.size();
    float const* const from = (i < kColumns ? a.lse : a.delta) + at + (is_there ? query : 0);
    copy_later<4>(to + i, from, is_there ? 4 : 0);
  }
}

// Turns finished scores into the weights that dv sums, and dp, in `slopes`, into ds. Columns are
// the queries from first_query on, whose log-sum-exp and delta load_row_numbers() has loaded to
// `lse`.
template <int kColumns>
__device__ void weigh_queries(Fragment<kColumns>& weights, Fragment<kColumns>& slopes, float factor,
                              float const* lse, HeadDropout const& dropout, int first_key,
                              int first_query) {
  float const* const delta = lse + kColumns;
#pragma unroll
  for (int n = 0; n < weights.kGroups; ++n) {
    Factors kept{{1, 1, 1, 1}};
    if (dropout.drops) kept = dropout.of_queries(first_key, first_query + 8 * n);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      int const column = fragment_column(n, e);
      float const exponent = fmaf(factor, weights.x[n][e], -(lse[column] * kLog2E));
      float const weight = exp2_approximate(exponent);
      slopes.x[n][e] = weight * (kept.x[e] * slopes.x[n][e] - delta[column]);
      weights.x[n][e] = kept.x[e] * weight;
    }
  }
}

template <class T, int kWidth>
__global__ void __launch_bounds__(GradientSizes<T, kWidth>::kThreads, 2)
    gradients_of_keys(BackwardOperands<T> const a) {
  using Tiles = GradientTiles<T, kWidth>;
  using Sizes = typename Tiles::Sizes;
  constexpr int kResident = Sizes::kResident, kStreamed = Sizes::kStreamed;
  Tiles const tiles{shared_memory()};
  // Log-sum-exp and delta of the streamed queries lie behind the tiles, then strips.
  auto const lse_at = [&](int stage) { return tiles.rest() + 2 * stage * kStreamed; };
  float* const strip = tiles.strip_of_warp(lse_at(Sizes::kStages));
  auto const& s = a.shape;
  KeyBlock<kResident, kWidth> const block(s);
  HeadScores const of_any_head(a.scores, s, block.sequence, 0, 0);
  QuerySteps<kStreamed> const steps(s, of_any_head, block);

  auto const load = [&](int step, int stage) {
    auto const queries = steps.queries(step);
    int const head = steps.head(step);
    Tiles::template load<kStreamed>(tiles.streamed(stage, 0), a.q, block.sequence, head, queries);
    Tiles::template load<kStreamed>(tiles.streamed(stage, 1), a.d_o, block.sequence, head, queries);
    load_row_numbers<kStreamed, Sizes::kThreads>(lse_at(stage), a, block.sequence, head, queries);
  };
  Fragment<columns_of_block(kWidth)> dk, dv;
  dk.clear();
  dv.clear();
  auto const add_queries = [&](int step, int stage) {
    if (block.first_of_warp >= s.keys) return;
    auto const queries = steps.queries(step);
    int const first_row = block.first_of_warp - block.rows.first;
    auto const q = tiles.streamed(stage, 0), d_o = tiles.streamed(stage, 1);
    HeadScores const scores(a.scores, s, block.sequence, steps.head(step), 0);
    Fragment<kStreamed> weights, slopes;
    weights.clear();
    slopes.clear();
    Products<T>::add_rows_by_rows(weights, tiles.resident(0), first_row, q, s.head_size);
    bool const none_is_hidden = queries.size() == kStreamed && scores.all_see(queries, block.rows);
    scores.finish(weights, none_is_hidden, [&](int n, int e) {
      return Pair{queries.first + fragment_column(n, e), block.first_of_warp + fragment_row(e)};
    });
    Products<T>::add_rows_by_rows(slopes, tiles.resident(1), first_row, d_o, s.head_size);
    HeadDropout const dropout(a.dropout, block.sequence, steps.head(step));
    weigh_queries(weights, slopes, scores.factor, lse_at(stage), dropout, block.first_of_warp,
                  queries.first);
    Products<T>::add_by_rows(dv, weights, strip, d_o, block.first_column);
    Products<T>::add_by_rows(dk, slopes, strip, q, block.first_column);
  };

  Tiles::template load<kResident>(tiles.resident(0), a.k, block.sequence, block.kv_head,
                                  block.rows);
  Tiles::template load<kResident>(tiles.resident(1), a.v, block.sequence, block.kv_head,
                                  block.rows);
  stream_tiles<Sizes::kStages>(steps, load, add_queries);
  auto const write = [&](HeadRows<T> const& to, auto const& sums, float factor) {
    store_rows(to, block.sequence, block.kv_head, block.first_of_warp, block.first_column, sums,
               [&](int) { return factor; });
  };
  write(a.dk, dk, s.scale);
  write(a.dv, dv, 1);
}

template <class T>
Pass<BackwardOperands<T>> pass_of_keys(AttentionShape const& s) {
  return with_width(s.head_size, [&]<int kWidth>() -> Pass<BackwardOperands<T>> {
    using Sizes = GradientSizes<T, kWidth>;
    constexpr int parts = kWidth / columns_of_block(kWidth);
    return {gradients_of_keys<T, kWidth>,
            std::int64_t{parts} * s.batch * s.kv_heads * div_ceil(s.keys, Sizes::kResident),
            Sizes::kThreads,
            GradientTiles<T, kWidth>::kBytes +
                2 * Sizes::kStages * Sizes::kStreamed * static_cast<int>(sizeof(float)) +
                (Products<T>::kNeedsStrip ? Sizes::kStripBytes : 0)};
  });
}

}  // namespace spillway::cuda
