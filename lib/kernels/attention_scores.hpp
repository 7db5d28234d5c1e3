// What becomes of scores beside q k^T: segments hide some, a bias is added by distance; and where
// the sums of that bias' gradient lie.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/attention_shape.hpp"

namespace spillway {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

// Operands that an op may do without: null then.
struct Scores {
  std::int32_t const* segments_q;  // [batch * queries]
  std::int32_t const* segments_k;  // [batch * keys]
  float const* distance_bias;      // [heads, distances]
  AttentionShape shape;

  Scores(void* const* p, AttentionShape const& s)  // p: the first of the three operands
      : segments_q(static_cast<std::int32_t const*>(p[0])),
        segments_k(static_cast<std::int32_t const*>(p[1])),
        distance_bias(static_cast<float const*>(p[2])),
        shape(s) {}

  // By what finished scores are multiplied to be exponents of 2: a bias is added to scaled ones.
  float factor() const { return (distance_bias ? 1.0f : shape.scale) * kLog2E; }
  bool are_finished() const { return !segments_q && !distance_bias; }

  bool sees(std::int64_t sequence, std::int64_t query, std::int64_t key) const {
    return !segments_q || meet(segments_q[sequence * shape.queries + query],
                               segments_k[sequence * shape.keys + key]);
  }
  float bias(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return distance_bias ? *bias_at(head, query, key) : 0;
  }

  // Whether some of these queries may see some of these keys, as far as segments go.
  bool may_meet(std::int64_t sequence, Range queries, Range keys) const {
    if (!segments_q) return true;
    auto const q = extent(segments_q + sequence * shape.queries, queries);
    auto const k = extent(segments_k + sequence * shape.keys, keys);
    return !intersection(q, k).empty();
  }

  // x: the scores of one query and the keys from `first` on; only those that exist are touched.
  void finish_keys(float* x, std::int64_t n, std::int64_t sequence, std::int64_t head,
                   std::int64_t query, std::int64_t first) const {
    n = std::min(n, shape.keys - first);
    if (distance_bias) add_bias<1>(x, n, bias_at(head, query, first));
    if (segments_q)
      hide(x, n, segments_k + sequence * shape.keys + first,
           segments_q[sequence * shape.queries + query]);
  }
  // x: the scores of one key and the queries from `first` on.
  void finish_queries(float* x, std::int64_t n, std::int64_t sequence, std::int64_t head,
                      std::int64_t key, std::int64_t first) const {
    n = std::min(n, shape.queries - first);
    if (distance_bias) add_bias<-1>(x, n, bias_at(head, first, key));
    if (segments_q)
      hide(x, n, segments_q + sequence * shape.queries + first,
           segments_k[sequence * shape.keys + key]);
  }

 private:
  static bool meet(std::int32_t a, std::int32_t b) { return a == b && a >= 0; }

  float const* bias_at(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return distance_bias + head * shape.distances() + key - query + shape.queries - 1;
  }

  // From the smallest number that is not negative to the largest.
  static Range extent(std::int32_t const* segments, Range rows) {
    Range extent{std::numeric_limits<std::int32_t>::max(), 0};
    for (auto row = rows.first; row < rows.past; ++row) {
      std::int64_t const segment = segments[row];
      if (segment < 0) continue;
      extent = {std::min(extent.first, segment), std::max(extent.past, segment + 1)};
    }
    return extent;
  }

  template <int step>
  void add_bias(float* __restrict__ x, std::int64_t n, float const* __restrict__ bias) const {
    float const scale = shape.scale;
#pragma omp simd
    for (std::int64_t l = 0; l < n; ++l) x[l] = std::fma(scale, x[l], bias[step * l]);
  }

  static void hide(float* __restrict__ x, std::int64_t n, std::int32_t const* __restrict__ others,
                   std::int32_t own) {
    if (own < 0) return static_cast<void>(std::fill_n(x, n, -kInfinity));
#pragma omp simd
    for (std::int64_t l = 0; l < n; ++l) x[l] = others[l] == own ? x[l] : -kInfinity;
  }
};

// The bias' gradient: sums of the scores' slopes over equal distances. Every tile of queries of a
// head has sums of its own, over its keys in their order; those of a distance are then added in the
// order of sequences and tiles. The workers' number changes nothing.
struct BiasSums {
  float* sums;  // [batch, heads, query tiles, length]; null: nobody asks
  AttentionShape shape;

  static std::int64_t length(AttentionShape const& s) { return s.tile + s.keys; }
  static std::int64_t bytes(AttentionShape const& s) {
    return s.batch * s.heads * s.query_tiles() * length(s) * size_bytes(DType::f32);
  }

  float* of_tile(std::int64_t sequence, std::int64_t head, std::int64_t first_query) const {
    auto const pair = sequence * shape.heads + head;
    return sums + (pair * shape.query_tiles() + first_query / shape.tile) * length(shape);
  }
  // The slopes of one key and the queries from row `row` of the tile on.
  void add(float* __restrict__ tile, std::int64_t key, std::int64_t row,
           float const* __restrict__ slopes, std::int64_t n) const {
    float* __restrict__ const nearest = tile + key - row + shape.tile - 1;
#pragma omp simd
    for (std::int64_t l = 0; l < n; ++l) nearest[-l] += slopes[l];
  }
  // gradient[head] = all that was added.
  void collect(std::int64_t head, float* gradient) const {
    auto* __restrict__ const out = gradient + head * shape.distances();
    std::fill_n(out, shape.distances(), 0.0f);
    for (std::int64_t sequence = 0; sequence < shape.batch; ++sequence)
      for (std::int64_t first = 0; first < shape.queries; first += shape.tile) {
        auto const* __restrict__ const tile = of_tile(sequence, head, first);
        auto const shift = shape.queries - shape.tile - first;  // from a tile's sum to the head's
        auto const past = std::min(length(shape), shape.distances() - shift);
#pragma omp simd
        for (auto e = std::max<std::int64_t>(-shift, 0); e < past; ++e) out[e + shift] += tile[e];
      }
  }
};

}  // namespace spillway
