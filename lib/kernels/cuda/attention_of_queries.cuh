// Computes dq, and the sums of slopes for the gradient of the bias, by tiles of queries.
#pragma once

#include "kernels/cuda/attention_gradients.cuh"
#include "kernels/cuda/attention_query_block.cuh"

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

// Log-sum-exp to base 2, and delta, of the two rows that a lane has. Rows that are not there get
// numbers that make their weights and slopes 0.
struct RowNumbers {
  float exponent[2], delta[2];

  template <class T, int kRows>
  __device__ RowNumbers(BackwardOperands<T> const& a, QueryBlock<kRows> const& block) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      int const query = block.first_of_warp + fragment_row(2 * half);
      bool const is_there = query < a.shape.queries;
      auto const at = block.index(query, a.shape);
      exponent[half] = is_there ? a.lse[at] * kLog2E : infinity();
      delta[half] = is_there ? a.delta[at] : 0;
    }
  }
};

template <class T, int kWidth>
__global__ void __launch_bounds__(GradientSizes<T, kWidth>::kThreads)
    gradients_of_queries(BackwardOperands<T> const a) {
  using Tiles = GradientTiles<T, kWidth>;
  using Sizes = typename Tiles::Sizes;
  constexpr int kResident = Sizes::kResident, kStreamed = Sizes::kStreamed;
  Tiles const tiles{shared_memory()};
  float *const strips = tiles.rest(), *const strip = tiles.strip_of_warp(strips);
  auto const& s = a.shape;
  QueryBlock<kResident> const block(s);
  int const kv_head = block.head / s.group();
  HeadScores const scores(a.scores, s, block.sequence, block.head, 0);
  HeadDropout const dropout(a.dropout, block.sequence, block.head);
  KeySteps<kStreamed> const steps(scores, block.rows);
  RowNumbers const numbers(a, block);

  auto const sums_number = std::int64_t{block.pair} * block.tiles + block.tile;
  float* const sums = a.bias_sums ? a.bias_sums + sums_number * a.sums_per_tile : nullptr;
  int const length = static_cast<int>(a.sums_per_tile);
  for (int i = threadIdx.x; sums && i < length; i += Sizes::kThreads) sums[i] = 0;

  auto const load = [&](int step, int stage) {
    auto const keys = steps.keys(step);
    Tiles::template load<kStreamed>(tiles.streamed(stage, 0), a.k, block.sequence, kv_head, keys);
    Tiles::template load<kStreamed>(tiles.streamed(stage, 1), a.v, block.sequence, kv_head, keys);
  };
  Fragment<kWidth> dq;
  dq.clear();
  auto const add_keys = [&](int step, int stage) {
    if (block.first_of_warp >= s.queries && !sums) return;
    auto const keys = steps.keys(step);
    int const first_row = block.first_of_warp - block.rows.first;
    auto const k = tiles.streamed(stage, 0), v = tiles.streamed(stage, 1);
    Fragment<kStreamed> weights, slopes;
    weights.clear();
    slopes.clear();
    Products<T>::add_rows_by_rows(weights, tiles.resident(0), first_row, k, s.head_size);
    finish_scores(weights, scores, block, keys);
    Products<T>::add_rows_by_rows(slopes, tiles.resident(1), first_row, v, s.head_size);
    dropout.drop_keys(slopes, block.first_of_warp, keys.first);
    slopes.each([&](float& x, int n, int e) {
      auto const exponent = fmaf(scores.factor, weights.x[n][e], -numbers.exponent[e / 2]);
      x = exp2_approximate(exponent) * (x - numbers.delta[e / 2]);
    });
    Products<T>::add_by_rows(dq, slopes, strip, k, 0);
    if (!sums) return;
    if (!Products<T>::kNeedsStrip) store_strip(strip, slopes);
    __syncthreads();
    add_by_distance<kResident, kStreamed, Sizes::kThreads>(sums, length, keys.first, strips);
  };

  Tiles::template load<kResident>(tiles.resident(0), a.q, block.sequence, block.head, block.rows);
  Tiles::template load<kResident>(tiles.resident(1), a.d_o, block.sequence, block.head, block.rows);
  stream_tiles<Sizes::kStages>(steps, load, add_keys);
  store_rows(a.dq, block.sequence, block.head, block.first_of_warp, 0, dq,
             [&](int) { return s.scale; });
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
