// Turns products q k^T into finished scores: a bias is added by distance, and segments hide some
// scores. Sums for the gradient of the bias are declared here, too.
#pragma once

#include <limits>

#include "kernels/host/attention_shape.hpp"

namespace spillway::host {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

// A pointer is null if the op does without that operand.
struct Scores {
  std::int32_t const* segments_q;  // [batch * queries]
  std::int32_t const* segments_k;  // [batch * keys]
  float const* distance_bias;      // [heads, distances]
  AttentionShape shape;

  // `o` are the Pointers of `attention` or of `attention_backward`.
  Scores(auto const& o, AttentionShape const& s)
      : segments_q(o.segments_q),
        segments_k(o.segments_k),
        distance_bias(o.distance_bias),
        shape(s) {}

  // Returns the factor that turns finished scores into exponents of 2. If there is a bias, finished
  // scores already contain `scale`.
  float factor() const { return (distance_bias ? 1.0f : shape.scale) * kLog2E; }
  bool need_finishing() const { return segments_q || distance_bias; }

  bool sees(std::int64_t sequence, std::int64_t query, std::int64_t key) const {
    return !segments_q || meet(segments_q[sequence * shape.queries + query],
                               segments_k[sequence * shape.keys + key]);
  }
  float bias(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return distance_bias ? *bias_at(head, query, key) : 0;
  }

  // Returns whether segments let any of these queries see any of these keys. It compares ranges of
  // segment numbers, so it may say true although none does.
  bool may_meet(std::int64_t sequence, RowRange queries, RowRange keys) const {
    return !segments_q || segments_meet(sequence, queries, keys);
  }

  // Finishes x, the scores of one query and of the keys [first, first + n). Elements beyond the
  // last key are not touched.
  void finish_keys(float* x, std::int64_t n, std::int64_t sequence, std::int64_t head,
                   std::int64_t query, std::int64_t first) const;
  // Finishes x, the scores of one key and of the queries [first, first + n). Elements beyond the
  // last query are not touched.
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

// The gradient of the bias is the sum of slopes over equal distances, where the slope of a score is
// the derivative of the loss with respect to it. Every tile of queries of a head has sums of its
// own, to which its keys are added in order. Then the sums of a distance are added in the order of
// sequences and tiles, so that the number of workers changes nothing.
struct BiasSums {
  float* sums;  // [batch, heads, query tiles, length]; null if not needed
  AttentionShape shape;

  static std::int64_t length(AttentionShape const& s) { return s.tile + s.keys; }
  static std::int64_t bytes(AttentionShape const& s) {
    return s.batch * s.heads * s.query_tiles() * length(s) * size_bytes(DType::f32);
  }

  float* of_tile(std::int64_t sequence, std::int64_t head, std::int64_t first_query) const {
    auto const pair = sequence * shape.heads + head;
    return sums + (pair * shape.query_tiles() + first_query / shape.tile) * length(shape);
  }
  // Adds the slopes of one key and of n queries, the first of which is row `row` of the tile.
  void add(float* tile, std::int64_t key, std::int64_t row, float const* slopes,
           std::int64_t n) const;
  // Writes row `head` of the gradient: the sum of all that was added for this head.
  void collect(std::int64_t head, float* gradient) const;
};

}  // namespace spillway::host
