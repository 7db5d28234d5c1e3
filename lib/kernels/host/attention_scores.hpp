// What becomes of scores beside q k^T: segments hide some, a bias is added by distance; and where
// the sums of that bias' gradient lie.
#pragma once

#include <limits>

#include "kernels/host/attention_shape.hpp"

namespace spillway::host {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

// Operands that an op may do without: null then.
struct Scores {
  std::int32_t const* segments_q;  // [batch * queries]
  std::int32_t const* segments_k;  // [batch * keys]
  float const* distance_bias;      // [heads, distances]
  AttentionShape shape;

  // Pointers of attention or of its backward pass
  Scores(auto const& o, AttentionShape const& s)
      : segments_q(o.segments_q),
        segments_k(o.segments_k),
        distance_bias(o.distance_bias),
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
    return !segments_q || segments_meet(sequence, queries, keys);
  }

  // x: the scores of one query and the keys from `first` on; only those that exist are touched.
  void finish_keys(float* x, std::int64_t n, std::int64_t sequence, std::int64_t head,
                   std::int64_t query, std::int64_t first) const;
  // x: the scores of one key and the queries from `first` on.
  void finish_queries(float* x, std::int64_t n, std::int64_t sequence, std::int64_t head,
                      std::int64_t key, std::int64_t first) const;

 private:
  static bool meet(std::int32_t a, std::int32_t b) { return a == b && a >= 0; }

  float const* bias_at(std::int64_t head, std::int64_t query, std::int64_t key) const {
    auto const ahead = key - query - shape.first_query;
    return distance_bias + head * shape.distances() + ahead + shape.places - 1;
  }

  bool segments_meet(std::int64_t sequence, Range queries, Range keys) const;
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
  void add(float* tile, std::int64_t key, std::int64_t row, float const* slopes,
           std::int64_t n) const;
  // gradient[head] = all that was added.
  void collect(std::int64_t head, float* gradient) const;
};

}  // namespace spillway::host
