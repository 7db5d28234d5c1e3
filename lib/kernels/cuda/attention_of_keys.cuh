// Computes dk and dv by tiles of keys. Rows of scores are keys here, and columns are queries.
#pragma once

#include "kernels/cuda/attention_gradients.cuh"

namespace spillway::cuda {

// A block sums at most so many columns of dk and dv, because more would not fit its registers.
constexpr int kMostColumns = 128;

template <class T, int kWidth>
__global__ void __launch_bounds__(GradientSizes<T, kWidth>::kThreads)
    gradients_of_keys(BackwardOperands<T> const a) {
  using Tiles = GradientTiles<T, kWidth>;
  using Sizes = typename Tiles::Sizes;
  constexpr int kResident = Sizes::kResident, kStreamed = Sizes::kStreamed;
  constexpr int kColumns = kWidth < kMostColumns ? kWidth : kMostColumns;
  constexpr int kParts = kWidth / kColumns;
  Tiles const tile{shared_memory()};
  // Log-sum-exp and delta of the streamed queries lie behind the tiles, then strips.
  auto const lse_at = [&](int stage) { return tile.rest() + 2 * stage * kStreamed; };
  int const warp = threadIdx.x / 32;
  float* const strip = lse_at(Sizes::kStages) + warp * kWarpRows * strip_stride(kStreamed);

  auto const& s = a.shape;
  int const first_column = static_cast<int>(blockIdx.x % kParts) * kColumns;
  int const unit = blockIdx.x / kParts, key_tiles = (s.keys + kResident - 1) / kResident;
  int const pair = unit / key_tiles, sequence = pair / s.kv_heads, kv_head = pair % s.kv_heads;
  int const first_of_tile = unit % key_tiles * kResident;
  Rows const rows{first_of_tile, min(first_of_tile + kResident, s.keys)};
  int const first_key = rows.first + warp * kWarpRows;
  HeadScores const any_head(a.scores, s, sequence, 0, 0);

  // The steps of a head, of which `tiles` take a tile of queries each, follow those of the heads
  // before it.
  auto const seen = s.queries_of(rows);
  int const first_tile = seen.first / kStreamed;
  int const tiles = max((seen.past + kStreamed - 1) / kStreamed - first_tile, 0);
  auto const queries_of_step = [&](int step) {
    int const first = (first_tile + step % tiles) * kStreamed;
    return Rows{first, min(first + kStreamed, seen.past)};
  };
  auto const head_of_step = [&](int step) { return kv_head * s.group() + step / tiles; };
  Rows const steps{0, tiles * s.group()};
  SegmentRange own;
  if (any_head.segments_k) own = segments_of(any_head.segments_k, rows);
  auto const next = [&](int step) {
    if (any_head.segments_q)
      while (step < steps.past &&
             !own.meets(segments_of(any_head.segments_q, queries_of_step(step))))
        ++step;
    return step;
  };
  auto const load = [&](int step, int stage) {
    auto const queries = queries_of_step(step);
    int const head = head_of_step(step);
    Tiles::template load<kStreamed>(tile.streamed(stage, 0), a.q, sequence, head, queries);
    Tiles::template load<kStreamed>(tile.streamed(stage, 1), a.d_o, sequence, head, queries);
    auto const at = (std::int64_t{sequence} * s.heads + head) * s.queries + queries.first;
    for (int i = threadIdx.x; i < 2 * kStreamed; i += Sizes::kThreads) {
      int const query = i % kStreamed;
      bool const is_there = query < queries.size();
      float const* const from = (i < kStreamed ? a.lse : a.delta) + at + (is_there ? query : 0);
      copy_later<4>(lse_at(stage) + i, from, is_there ? 4 : 0);
    }
  };

  Fragment<kColumns> dk, dv;
  dk.clear();
  dv.clear();
  Tiles::template load<kResident>(tile.resident(0), a.k, sequence, kv_head, rows);
  Tiles::template load<kResident>(tile.resident(1), a.v, sequence, kv_head, rows);
  stream_tiles<Sizes::kStages>(steps, next, load, [&](int step, int stage) {
    if (first_key >= s.keys) return;
    auto const queries = queries_of_step(step);
    auto const q = tile.streamed(stage, 0), d_o = tile.streamed(stage, 1);
    float const *const lse = lse_at(stage), *const delta = lse + kStreamed;
    HeadScores const scores(a.scores, s, sequence, head_of_step(step), 0);
    Fragment<kStreamed> weights, slopes;
    weights.clear();
    Products<T>::add_rows_by_rows(weights, tile.resident(0), warp * kWarpRows, q, s.head_size);
    bool const none_is_hidden = queries.size() == kStreamed && scores.all_see(queries, rows);
    scores.finish(weights, none_is_hidden, [&](int n, int e) {
      return Pair{queries.first + fragment_column(n, e), first_key + fragment_row(e)};
    });
    slopes.clear();
    Products<T>::add_rows_by_rows(slopes, tile.resident(1), warp * kWarpRows, d_o, s.head_size);
    HeadDropout const dropout(a.dropout, sequence, head_of_step(step));
#pragma unroll
    for (int n = 0; n < weights.kGroups; ++n) {
      Factors kept{{1, 1, 1, 1}};
      if (dropout.drops) kept = dropout.of_queries(first_key, queries.first + 8 * n);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        int const column = fragment_column(n, e);
        float const weight =
            exp2_approximate(fmaf(scores.factor, weights.x[n][e], -(lse[column] * kLog2E)));
        slopes.x[n][e] = weight * (kept.x[e] * slopes.x[n][e] - delta[column]);
        weights.x[n][e] = kept.x[e] * weight;
      }
    }
    Products<T>::add_by_rows(dv, weights, strip, d_o, first_column);
    Products<T>::add_by_rows(dk, slopes, strip, q, first_column);
  });
  store_rows(a.dk, sequence, kv_head, first_key, first_column, dk, [&](int) { return s.scale; });
  store_rows(a.dv, sequence, kv_head, first_key, first_column, dv, [](int) { return 1.0f; });
}

template <class T>
Pass<BackwardOperands<T>> pass_of_keys(AttentionShape const& s) {
  return with_width(s.head_size, [&]<int kWidth>() -> Pass<BackwardOperands<T>> {
    using Sizes = GradientSizes<T, kWidth>;
    auto const parts = std::max(kWidth / kMostColumns, 1);
    return {gradients_of_keys<T, kWidth>,
            std::int64_t{parts} * s.batch * s.kv_heads * div_ceil(s.keys, Sizes::kResident),
            Sizes::kThreads,
            GradientTiles<T, kWidth>::kBytes +
                2 * Sizes::kStages * Sizes::kStreamed * static_cast<int>(sizeof(float)) +
                (Products<T>::kNeedsStrip ? Sizes::kStripBytes : 0)};
  });
}

}  // namespace spillway::cuda
