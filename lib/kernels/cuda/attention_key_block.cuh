// Says which keys a block of threads has, and over which tiles of queries it goes for them.
#pragma once

#include "kernels/cuda/attention_scores.cuh"

namespace spillway::cuda {

// A block sums at most so many columns of dk and dv, because more would not fit its registers.
constexpr int kMostColumns = 128;
constexpr int columns_of_block(int width) {
  return width < kMostColumns ? width : kMostColumns;
}

// A KeyBlock is a tile of kRows keys of one head of k, with some columns of dk and dv.
template <int kRows, int kWidth>
struct KeyBlock {
  int sequence, kv_head, first_column;
  Rows rows;
  int first_of_warp;

  __device__ explicit KeyBlock(AttentionShape const& s) {
    constexpr int kParts = kWidth / columns_of_block(kWidth);
    int const unit = blockIdx.x / kParts, tiles = (s.keys + kRows - 1) / kRows;
    first_column = static_cast<int>(blockIdx.x % kParts) * kMostColumns;
    sequence = unit / tiles / s.kv_heads;
    kv_head = unit / tiles % s.kv_heads;
    int const first = unit % tiles * kRows;
    rows = {first, min(first + kRows, s.keys)};
    first_of_warp = first + threadIdx.x / 32 * kWarpRows;
  }
};

// QuerySteps go over the tiles of kRows queries that see some keys by their positions, for the
// query heads of a group one after the other. A step is a tile of a head.
template <int kRows>
struct QuerySteps {
  std::int32_t const* segments_q;  // begin at the sequence; null: all is one segment
  int first_head, first_tile, tiles, past;
  Rows steps;
  SegmentRange own;

  template <int kKeys, int kWidth>
  __device__ QuerySteps(AttentionShape const& s, HeadScores const& scores,
                        KeyBlock<kKeys, kWidth> const& block)
      : segments_q(scores.segments_q), first_head(block.kv_head * s.group()) {
    auto const seen = s.queries_of(block.rows);
    first_tile = seen.first / kRows;
    past = seen.past;
    tiles = max((past + kRows - 1) / kRows - first_tile, 0);
    steps = {0, tiles * s.group()};
    if (segments_q) own = segments_of(scores.segments_k, block.rows);
  }

  __device__ int head(int step) const { return first_head + step / tiles; }
  __device__ Rows queries(int step) const {
    int const first = (first_tile + step % tiles) * kRows;
    return {first, min(first + kRows, past)};
  }
  __device__ int next(int step) const {
    if (segments_q)
      while (step < steps.past && !own.meets(segments_of(segments_q, queries(step)))) ++step;
    return step;
  }
};

}  // namespace spillway::cuda
