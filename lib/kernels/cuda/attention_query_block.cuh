// Says which queries a block of threads has, and over which tiles of keys it goes for them.
#pragma once

#include "kernels/cuda/attention_scores.cuh"

namespace spillway::cuda {

// A QueryBlock is a tile of kRows queries of one head. The last queries, which see the most keys
// under a causal mask, belong to the first blocks.
template <int kRows>
struct QueryBlock {
  int tiles;  // is the number of tiles of a head
  int tile, pair, sequence, head;
  Rows rows;
  int first_of_warp;

  __device__ explicit QueryBlock(AttentionShape const& s)
      : tiles((s.queries + kRows - 1) / kRows),
        tile(tiles - 1 - static_cast<int>(blockIdx.x % tiles)),
        pair(blockIdx.x / tiles),
        sequence(pair / s.heads),
        head(pair % s.heads),
        rows{tile * kRows, min((tile + 1) * kRows, s.queries)},
        first_of_warp(rows.first + threadIdx.x / 32 * kWarpRows) {}

  // Returns the index of a query in arrays [batch, heads, queries].
  __device__ std::int64_t index(int query, AttentionShape const& s) const {
    return std::int64_t{pair} * s.queries + query;
  }
};

// KeySteps go over the tiles of kRows keys that the positions of some queries let them see.
template <int kRows>
struct KeySteps {
  HeadScores const& scores;
  int past;  // is the first key that no query sees any more
  Rows steps;
  SegmentRange own;

  __device__ KeySteps(HeadScores const& head_scores, Rows queries) : scores(head_scores) {
    auto const seen = scores.shape.keys_of(queries, scores.origin);
    past = seen.past;
    steps = {seen.first / kRows, (past + kRows - 1) / kRows};
    if (scores.segments_q) own = segments_of(scores.segments_q, queries);
  }

  __device__ Rows keys(int step) const { return {step * kRows, min((step + 1) * kRows, past)}; }
  // Returns the first step from `step` on whose keys segments do not hide from all queries.
  __device__ int next(int step) const {
    if (scores.segments_q)
      while (step < steps.past && !own.meets(segments_of(scores.segments_k, keys(step)))) ++step;
    return step;
  }
};

// Finishes scores whose rows are the queries of a warp and whose columns are `keys`.
template <int kRows, int kColumns>
__device__ void finish_scores(Fragment<kColumns>& x, HeadScores const& scores,
                              QueryBlock<kRows> const& block, Rows keys) {
  bool const none_is_hidden = keys.size() == kColumns && scores.all_see(block.rows, keys);
  scores.finish(x, none_is_hidden, [&](int n, int e) {
    return Pair{block.first_of_warp + fragment_row(e), keys.first + fragment_column(n, e)};
  });
}

}  // namespace spillway::cuda
