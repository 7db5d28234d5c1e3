// Finishes scores q k^T: adds a bias by the distance of query and key, and hides scores whose query
// and key have different segment numbers. Sums for the bias's gradient are declared here, too.
#pragma once

#include <limits>

#include "kernels/host/attention_shape.hpp"

namespace spillway::host {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

// A pointer is null if the op lacks the operand of this name.
struct Scores {
  std::int32_t const* segments_q;  // [batch * queries]
  std::int32_t const* segments_k;  // [batch * keys]
  float const* distance_bias;      // [heads, distances]
  AttentionShape shape;

  // `o` must be the Pointers of an op `attention` or `attention_backward`.
  Scores(auto const& o, AttentionShape const& s)
      : segments_q(o.segments_q),
        segments_k(o.segments_k),
        distance_bias(o.distance_bias),
        shape(s) {}

  // Returns the factor that makes exponents of 2 of finished scores. A score to which a bias was
  // added has been multiplied by shape.scale before.
  float factor() const { return (distance_bias ? 1.0f : shape.scale) * kLog2E; }
  bool need_finishing() const { return segments_q || distance_bias; }

  bool sees(std::int64_t sequence, std::int64_t query, std::int64_t key) const {
    return !segments_q || meet(segments_q[sequence * shape.queries + query],
                               segments_k[sequence * shape.keys + key]);
  }
  float bias(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return distance_bias ? *bias_at(head, query, key) : 0;
  }

  // Returns false if segment numbers hide all of these keys from all of these queries. It compares
  // ranges of numbers only, so it may return true although no query sees a key.
  bool may_meet(std::int64_t sequence, RowRange queries, RowRange keys) const {
    return !segments_q || segments_meet(sequence, queries, keys);
  }

  // Applies bias and segment numbers to x, the scores of one query and of the keys [first, first +
  // n). Elements beyond the last key are not touched.
  void finish_keys(float* x, std::int64_t n, std::int64_t sequence, std::int64_t head,
                   std::int64_t query, std::int64_t first) const;
  // Applies bias and segment numbers to x, the scores of one key and of the queries [first, first +
  // n). Elements beyond the last query are not touched.
  void finish_queries(float* x, std::int64_t n, std::int64_t sequence, std::int64_t head,
                      std::int64_t key, std::int64_t first) const;

 private:
  static bool meet(std::int32_t a, std::int32_t b) { return a == b && a >= 0; }

  float const* bias_at(std::int64_t head, std::int64_t query, std::int64_t key) const {
    auto const ahead = key - query - shape.first_query;
    return distance_bias + head * shape.distances() + ahead + shape.places - 1;
  }

  bool segments_meet(std::int64_t sequence, RowRange queries, RowRange keys) const;
};

// The gradient of the bias for a distance is the sum of the slopes of all scores with this
// distance. A slope is the derivative of the loss with respect to a score. Each tile of queries of
// a head has its own sums, to which keys are added in ascending order. The sums of tiles are then
// added in the order of sequences and tiles, so the number of workers changes nothing.
struct BiasSums {
  float* sums;  // [batch, heads, query tiles, length]; null if the bias has no gradient
  AttentionShape shape;

  static std::int64_t length(AttentionShape const& s) { return s.tile + s.keys; }
  static std::int64_t bytes(AttentionShape const& s) {
    return s.batch * s.heads * s.query_tiles() * length(s) * size_bytes(DType::f32);
  }

  float* of_tile(std::int64_t sequence, std::int64_t head, std::int64_t first_query) const {
    auto const pair = sequence * shape.heads + head;
    return sums + (pair * shape.query_tiles() + first_query / shape.tile) * length(shape);
  }
  // Adds the slopes of one key and n queries to `tile`, the sums of a tile of queries. The first
  // query is row `row` of the tile.
  void add(float* tile, std::int64_t key, std::int64_t row, float const* slopes,
           std::int64_t n) const;
  // Writes row `head` of the bias's gradient: the sum of all slopes that were added for the head.
  void collect(std::int64_t head, float* gradient) const;
};

}  // namespace spillway::host
