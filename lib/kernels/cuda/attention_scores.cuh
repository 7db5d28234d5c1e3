// Finishes scores q k^T of a warp: adds a bias by the distance of query and key, and hides scores
// of a query and a key that do not see each other.
#pragma once

#include <climits>

#include "kernels/cuda/attention_fragment.cuh"
#include "kernels/cuda/attention_shape.cuh"

namespace spillway::cuda {

inline constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

// Returns 2^x with an error of at most 2 ulp; results below 2^-126 become 0.
__device__ inline float exp2_approximate(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__device__ inline float infinity() {
  return __int_as_float(0x7f800000);
}

// A SegmentRange goes from the smallest to the largest segment number of some rows. Negative
// numbers, which mark padding, do not count.
struct SegmentRange {
  int lowest = INT_MAX, highest = -1;
  __device__ bool meets(SegmentRange other) const {
    return lowest <= other.highest && other.lowest <= highest;
  }
};
// Returns the range of these rows. All lanes of a warp must call it together.
__device__ inline SegmentRange segments_of(std::int32_t const* segments, Rows rows) {
  SegmentRange range;
  for (int row = rows.first + lane(); row < rows.past; row += 32) {
    int const segment = segments[row];
    if (segment < 0) continue;
    range = {min(range.lowest, segment), max(range.highest, segment)};
  }
  return {__reduce_min_sync(~0u, range.lowest), __reduce_max_sync(~0u, range.highest)};
}

// HeadScores know what the scores of one head of a sequence need besides q and k.
struct HeadScores {
  AttentionShape shape;
  std::int32_t const *segments_q, *segments_k;  // begin at the sequence; null: all is one segment
  float const* nearest_bias;                    // is the bias of distance 0; null: there is none
  int origin;                                   // is the position of row 0 of q
  float factor;                                 // makes exponents of 2 of finished scores

  __device__ HeadScores(ScoreOperands const& o, AttentionShape const& s, int sequence, int head,
                        int first_position)
      : shape(s),
        segments_q(o.segments_q ? o.segments_q + std::int64_t{sequence} * s.queries : nullptr),
        segments_k(o.segments_k ? o.segments_k + std::int64_t{sequence} * s.keys : nullptr),
        nearest_bias(o.distance_bias ? o.distance_bias + head * s.distances() + s.places - 1
                                     : nullptr),
        origin(first_position),
        factor((o.distance_bias ? 1.0f : s.scale) * kLog2E) {}

  // Returns whether every query sees every key. All of these rows must exist.
  __device__ bool all_see(Rows q, Rows k) const {
    return !segments_q && k.past - 1 - (q.first + origin) <= shape.ahead &&
           q.past - 1 + origin - k.first <= shape.behind;
  }
  __device__ bool sees(int query, int key) const {
    int const distance = key - query - origin;
    bool const by_place = query < shape.queries && key < shape.keys && distance <= shape.ahead &&
                          -distance <= shape.behind;
    if (!segments_q) return by_place;
    int const own = segments_q[min(query, shape.queries - 1)];
    return by_place && own >= 0 && own == segments_k[min(key, shape.keys - 1)];
  }
  __device__ float with_bias(float score, int query, int key) const {
    int const distance = min(key, shape.keys - 1) - min(query, shape.queries - 1) - origin;
    return fmaf(shape.scale, score, nearest_bias[distance]);
  }

  // `place(n, e)` returns the query and the key of a score. Hidden scores become -infinity.
  template <int kColumns, class Place>
  __device__ void finish(Fragment<kColumns>& scores, bool none_is_hidden,
                         Place const& place) const {
    if (nearest_bias)
      scores.each([&](float& x, int n, int e) {
        auto const [query, key] = place(n, e);
        x = with_bias(x, query, key);
      });
    if (!none_is_hidden)
      scores.each([&](float& x, int n, int e) {
        auto const [query, key] = place(n, e);
        x = sees(query, key) ? x : -infinity();
      });
  }
};
struct Pair {
  int query, key;
};

}  // namespace spillway::cuda
