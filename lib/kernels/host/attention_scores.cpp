#include "kernels/host/attention_scores.hpp"

#include <cmath>

namespace spillway::host {
namespace {

// Returns the range from the smallest to the largest segment number of `rows`. Negative numbers,
// which mark padding, do not count.
RowRange segments_of(std::int32_t const* segments, RowRange rows) {
  RowRange range{std::numeric_limits<std::int32_t>::max(), 0};
  for (auto row = rows.first; row < rows.past; ++row) {
    std::int64_t const segment = segments[row];
    if (segment < 0) continue;
    range = {std::min(range.first, segment), std::max(range.past, segment + 1)};
  }
  return range;
}

template <int step>
void add_bias(float* __restrict__ x, std::int64_t n, float scale, float const* __restrict__ bias) {
#pragma omp simd
  for (std::int64_t l = 0; l < n; ++l) x[l] = std::fma(scale, x[l], bias[step * l]);
}

void hide(float* __restrict__ x, std::int64_t n, std::int32_t const* __restrict__ others,
          std::int32_t own) {
  if (own < 0) return static_cast<void>(std::fill_n(x, n, -kInfinity));
#pragma omp simd
  for (std::int64_t l = 0; l < n; ++l) x[l] = others[l] == own ? x[l] : -kInfinity;
}

}  // namespace

bool Scores::segments_meet(std::int64_t sequence, RowRange queries, RowRange keys) const {
  auto const q = segments_of(segments_q + sequence * shape.queries, queries);
  auto const k = segments_of(segments_k + sequence * shape.keys, keys);
  return !intersection(q, k).empty();
}

void Scores::finish_keys(float* x, std::int64_t n, std::int64_t sequence, std::int64_t head,
                         std::int64_t query, std::int64_t first) const {
  n = std::min(n, shape.keys - first);
  if (distance_bias) add_bias<1>(x, n, shape.scale, bias_at(head, query, first));
  if (segments_q)
    hide(x, n, segments_k + sequence * shape.keys + first,
         segments_q[sequence * shape.queries + query]);
}

void Scores::finish_queries(float* x, std::int64_t n, std::int64_t sequence, std::int64_t head,
                            std::int64_t key, std::int64_t first) const {
  n = std::min(n, shape.queries - first);
  if (distance_bias) add_bias<-1>(x, n, shape.scale, bias_at(head, first, key));
  if (segments_q)
    hide(x, n, segments_q + sequence * shape.queries + first,
         segments_k[sequence * shape.keys + key]);
}

void BiasSums::add(float* tile, std::int64_t key, std::int64_t row,
                   float const* __restrict__ slopes, std::int64_t n) const {
  float* __restrict__ const nearest = tile + key - row + shape.tile - 1;
#pragma omp simd
  for (std::int64_t l = 0; l < n; ++l) nearest[-l] += slopes[l];
}

void BiasSums::collect(std::int64_t head, float* gradient) const {
  auto* __restrict__ const out = gradient + head * shape.distances();
  std::fill_n(out, shape.distances(), 0.0f);
  for (std::int64_t sequence = 0; sequence < shape.batch; ++sequence)
    for (std::int64_t first = 0; first < shape.queries; first += shape.tile) {
      auto const* __restrict__ const tile = of_tile(sequence, head, first);
      // An index in the sums of a tile plus `shift` is the index in `out`.
      auto const shift = shape.queries - shape.tile - first;
      auto const past = std::min(length(shape), shape.distances() - shift);
#pragma omp simd
      for (auto e = std::max<std::int64_t>(-shift, 0); e < past; ++e) out[e + shift] += tile[e];
    }
}

}  // namespace spillway::host
