// Says how threads divide the work of the op `attention_backward`, whose formulas stand in
// attention_backward.cpp, and what a worker's scratch holds.
#pragma once

#include <cstdint>

#include "kernels/host/attention_shape.hpp"
#include "kernels/host/tiles/tiles.hpp"

namespace spillway::host {

// The limit for the sums of dk and dv of a key head.
inline constexpr std::int64_t kMostSumBytes = 4 << 20;

// Says how the work is divided among threads.
enum class Division : std::uint8_t {
  heads,  // a unit of work is a key head: p and ds are computed once for dq, dk and dv
  tiles,  // a unit is a tile of queries (dq) or of keys (dk, dv): p and ds are computed twice
};

// Chooses Division::tiles if a division by heads would leave workers idle for more than a third of
// the time, or if the sums for a head would exceed kMostSumBytes.
Division division(AttentionShape const& s);

// Holds the byte offsets of the arrays in a worker's scratch. Scores are stored as [keys, queries].
struct GradientScratch {
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

  GradientScratch(AttentionShape const& s, TileKernels const& kernels);
};

}  // namespace spillway::host
