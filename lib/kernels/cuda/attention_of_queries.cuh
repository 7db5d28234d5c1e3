// Computes dq, and the sums of slopes for the gradient of the bias, by tiles of queries.
#pragma once

#include "kernels/cuda/attention_gradients.cuh"
#include "kernels/cuda/attention_query_block.cuh"

namespace spillway::cuda {

// BiasSums sum the slopes of a tile of kRows queries by distance, for the gradient of the bias.
// Element key - row + kRows - 1 belongs to a key and a row of the tile.
template <int kRows, int kThreads>
struct BiasSums {
  float* sums;  // is null if the bias has no gradient
  int length;

  template <class T>
  __device__ BiasSums(BackwardOperands<T> const& a, QueryBlock<kRows> const& block)
      : sums(a.bias_sums ? a.bias_sums + number_of(block) * a.sums_per_tile : nullptr),
        length(static_cast<int>(a.sums_per_tile)) {
    for (int i = threadIdx.x; sums && i < length; i += kThreads) sums[i] = 0;
  }
  static __device__ std::int64_t number_of(QueryBlock<kRows> const& block) {
    return std::int64_t{block.pair} * block.tiles + block.tile;
  }

  // Adds the slopes of the keys from first_key on, which the strips of all warps hold. Every thread
  // adds whole diagonals, from the first row on.
  template <int kColumns>
  __device__ void add(int first_key, float const* strips) const {
    for (int d = threadIdx.x; d < kRows + kColumns - 1; d += kThreads) {
      float sum = 0;
      for (int row = max(kRows - 1 - d, 0); row < min(kRows - 1 - d + kColumns, kRows); ++row)
        sum += strips[row * strip_stride(kColumns) + d + row - (kRows - 1)];
      if (first_key + d < length) sums[first_key + d] += sum;
    }
  }
};

// RowNumbers are log-sum-exp to base 2, and delta, of the two rows that a lane has. Rows that are
// not there get numbers that make their weights and slopes 0.
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

  // Turns dp, in `slopes`, into ds, with the weights of these finished scores.
  template <int kColumns>
  __device__ void weigh(Fragment<kColumns>& slopes, Fragment<kColumns> const& scores,
                        float factor) const {
    slopes.each([&](float& x, int n, int e) {
      x = exp2_approximate(fmaf(factor, scores.x[n][e], -exponent[e / 2])) * (x - delta[e / 2]);
    });
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
  BiasSums<kResident, Sizes::kThreads> const bias(a, block);

  auto const load = [&](int step, int stage) {
    auto const keys = steps.keys(step);
    Tiles::template load<kStreamed>(tiles.streamed(stage, 0), a.k, block.sequence, kv_head, keys);
    Tiles::template load<kStreamed>(tiles.streamed(stage, 1), a.v, block.sequence, kv_head, keys);
  };
  Fragment<kWidth> dq;
  dq.clear();
  auto const add_keys = [&](int step, int stage) {
    if (block.first_of_warp >= s.queries && !bias.sums) return;
    auto const keys = steps.keys(step);
    int const first_row = block.first_of_warp - block.rows.first;
    auto const k = tiles.streamed(stage, 0), v = tiles.streamed(stage, 1);
    Fragment<kStreamed> x, slopes;
    x.clear();
    slopes.clear();
    Products<T>::add_rows_by_rows(x, tiles.resident(0), first_row, k, s.head_size);
    finish_scores(x, scores, block, keys);
    Products<T>::add_rows_by_rows(slopes, tiles.resident(1), first_row, v, s.head_size);
    dropout.drop_keys(slopes, block.first_of_warp, keys.first);
    numbers.weigh(slopes, x, scores.factor);
    Products<T>::add_by_rows(dq, slopes, strip, k, 0);
    if (!bias.sums) return;
    if (!Products<T>::kNeedsStrip) store_strip(strip, slopes);
    __syncthreads();
    bias.template add<kStreamed>(keys.first, strips);
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
    constexpr int tiles = GradientTiles<T, kWidth>::kBytes, all = tiles + Sizes::kStripBytes;
    return {gradients_of_queries<T, kWidth>,
            std::int64_t{s.batch} * s.heads * div_ceil(s.queries, Sizes::kResident),
            Sizes::kThreads, sums_bias || Products<T>::kNeedsStrip ? all : tiles, all};
  });
}

}  // namespace spillway::cuda
