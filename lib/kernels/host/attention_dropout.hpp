// Dropout of attention's weights by counter. Whether the weight of a query and a key is dropped
// follows from the run's seed, the forward op, the sample, the head and these two alone, so tiles,
// threads, recomputation and the backward pass agree on it.
#pragma once

#include <cstdint>

#include "kernels/formulas/dropout.hpp"
#include "kernels/host/attention_shape.hpp"

namespace spillway::host {

static_assert(kPanel % kDropoutDraws == 0);  // so panels begin with a block of draws

struct WeightDropout {
  std::int64_t const* samples;  // [batch]; null: nothing is dropped
  float p, scale;
  std::uint64_t seed, origin;

  WeightDropout(std::int64_t const* numbers, AttentionShape const& s)
      : samples(s.dropout > 0 ? numbers : nullptr),
        p(s.dropout),
        scale(1 / (1 - s.dropout)),
        seed(s.seed),
        origin(s.origin) {}

  bool drops() const { return samples != nullptr; }

  // The Philox key of one head's numbers: a counter has room for query and key alone.
  std::uint64_t stream(std::int64_t sequence, std::int64_t head) const {
    auto const drawn = philox(seed, (origin << 32) | static_cast<std::uint64_t>(head),
                              static_cast<std::uint64_t>(samples[sequence]));
    return (std::uint64_t{drawn.x[1]} << 32) | drawn.x[0];
  }

  // What the weight is multiplied by.
  float factor(std::uint64_t stream, std::int64_t query, std::int64_t key) const;
  // Multiplies the weights of one query and the keys [first, first + n), whole panels.
  void drop_keys(float* weights, std::int64_t n, std::uint64_t stream, std::int64_t query,
                 std::int64_t first) const;
  // Row k of factors: those of key `first_key` + k, k < kDropoutDraws, and the queries
  // [first, first + n). first_key begins a block of draws.
  void factors_of_keys(float* factors, std::int64_t stride, std::uint64_t stream,
                       std::int64_t first_key, std::int64_t first, std::int64_t n) const;
};

}  // namespace spillway::host
