// Computes dq, and the sums of slopes for the gradient of the bias, by tiles of queries.
#pragma once

#include "kernels/cuda/attention_gradients.cuh"

namespace spillway::cuda {

// Adds the slopes of a tile of queries and the keys from first_key on to the sums of the tile.
// Element key - row + kRows - 1 of the sums belongs to a key and a row of the tile. The strips of
// all warps have the slopes; every thread adds whole diagonals, from the first row on.
template <int kRows, int kColumns, int kThreads>
__device__ void add_by_distance(float* sums, int length, int first_key, float const* strips) {
  for (int d = threadIdx.x; d < kRows + kColumns - 1; d += kThreads) {
    float sum = 0;
    for (int row = max(kRows - 1 - d, 0); row < min(kRows - 1 - d + kColumns, kRows); ++row)
      sum += strips[row * strip_stride(kColumns) + d + row - (kRows - 1)];
    if (first_key + d < length) sums[first_key + d] += sum;
  }
}

template <class T, int kWidth>
__global__ void __launch_bounds__(GradientSizes<T, kWidth>::kThreads)
    gradients_of_queries(BackwardOperands<T> const a) {
  using Tiles = GradientTiles<T, kWidth>;
  using Sizes = typename Tiles::Sizes;
  constexpr int kResident = Sizes::kResident, kStreamed = Sizes::kStreamed;
  Tiles const tile{shared_memory()};
  int const warp = threadIdx.x / 32;
  float* const strip = tile.rest() + warp * kWarpRows * strip_stride(kStreamed);

  // The last queries, which see the most keys under a causal mask, come first.
  auto const& s = a.shape;
  int const query_tiles = (s.queries + kResident - 1) / kResident;
  int const number = query_tiles - 1 - static_cast<int>(blockIdx.x % query_tiles);
  int const pair = blockIdx.x / query_tiles, sequence = pair / s.heads, head = pair % s.heads;
  Rows const rows{number * kResident, min((number + 1) * kResident, s.queries)};
  int const first_query = rows.first + warp * kWarpRows;
  HeadScores const scores(a.scores, s, sequence, head, 0);
  HeadDropout const dropout(a.dropout, sequence, head);
  float* const sums =
      a.bias_sums ? a.bias_sums + (std::int64_t{pair} * query_tiles + number) * a.sums_per_tile
                  : nullptr;
  int const length = static_cast<int>(a.sums_per_tile);
  for (int i = threadIdx.x; sums && i < length; i += Sizes::kThreads) sums[i] = 0;

  float exponent[2], delta[2];  // log-sum-exp to base 2 and rowsum(do * o) of the lane's two rows
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    int const query = first_query + fragment_row(2 * half);
    auto const at = std::int64_t{pair} * s.queries + query;
    exponent[half] = query < s.queries ? a.lse[at] * kLog2E : infinity();
    delta[half] = query < s.queries ? a.delta[at] : 0;
  }

  auto const seen = s.keys_of(rows, 0);
  auto const keys_of_step = [&](int step) {
    return Rows{step * kStreamed, min((step + 1) * kStreamed, seen.past)};
  };
  Rows const steps{seen.first / kStreamed, (seen.past + kStreamed - 1) / kStreamed};
  SegmentRange own;
  if (scores.segments_q) own = segments_of(scores.segments_q, rows);
  auto const next = [&](int step) {
    if (scores.segments_q)
      while (step < steps.past && !own.meets(segments_of(scores.segments_k, keys_of_step(step))))
        ++step;
    return step;
  };
  auto const load = [&](int step, int stage) {
    auto const keys = keys_of_step(step);
    Tiles::template load<kStreamed>(tile.streamed(stage, 0), a.k, sequence, head / s.group(), keys);
    Tiles::template load<kStreamed>(tile.streamed(stage, 1), a.v, sequence, head / s.group(), keys);
  };

  Fragment<kWidth> dq;
  dq.clear();
  Tiles::template load<kResident>(tile.resident(0), a.q, sequence, head, rows);
  Tiles::template load<kResident>(tile.resident(1), a.d_o, sequence, head, rows);
  stream_tiles<Sizes::kStages>(steps, next, load, [&](int step, int stage) {
    if (first_query >= s.queries && !sums) return;
    auto const keys = keys_of_step(step);
    auto const k = tile.streamed(stage, 0), v = tile.streamed(stage, 1);
    Fragment<kStreamed> weights, slopes;
    weights.clear();
    Products<T>::add_rows_by_rows(weights, tile.resident(0), warp * kWarpRows, k, s.head_size);
    bool const none_is_hidden = keys.size() == kStreamed && scores.all_see(rows, keys);
    scores.finish(weights, none_is_hidden, [&](int n, int e) {
      return Pair{first_query + fragment_row(e), keys.first + fragment_column(n, e)};
    });
    slopes.clear();
    Products<T>::add_rows_by_rows(slopes, tile.resident(1), warp * kWarpRows, v, s.head_size);
    if (dropout.drops)
#pragma unroll
      for (int n = 0; n < slopes.kGroups; ++n) {
        auto const factors = dropout.of_keys(first_query, keys.first + 8 * n);
#pragma unroll
        for (int e = 0; e < 4; ++e) slopes.x[n][e] *= factors.x[e];
      }
    slopes.each([&](float& x, int n, int e) {
      auto const weight = exp2_approximate(fmaf(scores.factor, weights.x[n][e], -exponent[e / 2]));
      x = weight * (x - delta[e / 2]);
    });
    Products<T>::add_by_rows(dq, slopes, strip, k, 0);
    if (sums) {
      if (!Products<T>::kNeedsStrip) store_strip(strip, slopes);
      __syncthreads();
      add_by_distance<kResident, kStreamed, Sizes::kThreads>(sums, length, keys.first, tile.rest());
    }
  });
  store_rows(a.dq, sequence, head, first_query, 0, dq, [&](int) { return s.scale; });
}

template <class T>
Pass<BackwardOperands<T>> pass_of_queries(AttentionShape const& s, bool sums_bias) {
  return with_width(s.head_size, [&]<int kWidth>() -> Pass<BackwardOperands<T>> {
    using Sizes = GradientSizes<T, kWidth>;
    return {gradients_of_queries<T, kWidth>,
            std::int64_t{s.batch} * s.heads * div_ceil(s.queries, Sizes::kResident),
            Sizes::kThreads,
            GradientTiles<T, kWidth>::kBytes +
                (sums_bias || Products<T>::kNeedsStrip ? Sizes::kStripBytes : 0)};
  });
}

}  // namespace spillway::cuda
