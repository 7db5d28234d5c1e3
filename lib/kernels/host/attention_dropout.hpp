// Drops attention's weights by counter-based random numbers. Whether the weight of a query and a
// key is dropped follows from the run's seed, the forward op, the sample, the head, the query and
// the key alone. So tiles, threads, recomputation and the backward pass agree on it.
#pragma once

#include <cstdint>

#include "kernels/formulas/dropout.hpp"
#include "kernels/host/attention_shape.hpp"

namespace spillway::host {

static_assert(kPanel % kDropoutDraws == 0);  // so that each panel begins with a new Philox block

struct WeightDropout {
  std::int64_t const* samples;  // sample numbers [batch]; null if nothing is dropped
  float p, scale;
  std::uint64_t seed, origin;

  WeightDropout(std::int64_t const* numbers, AttentionShape const& s)
      : samples(s.dropout > 0 ? numbers : nullptr),
        p(s.dropout),
        scale(1 / (1 - s.dropout)),
        seed(s.seed),
        origin(s.origin) {}

  bool drops() const { return samples != nullptr; }

  std::uint64_t head_key(std::int64_t sequence, std::int64_t head) const {
    return attention_head_key(seed, origin, head, samples[sequence]);
  }

  // Returns the factor of the weight of a query and a key: 0 drops it, `scale` keeps it.
  float factor(std::uint64_t head_key, std::int64_t query, std::int64_t key) const;
  // Applies dropout to the weights of one query and the keys [first, first + n). `first` and n must
  // be multiples of kDropoutDraws.
  void drop_keys(float* weights, std::int64_t n, std::uint64_t head_key, std::int64_t query,
                 std::int64_t first) const;
  // For each k < kDropoutDraws, writes the dropout factors of the key first_key + k and of the
  // queries [first, first + n) to factors[k * stride] and the elements after it. first_key must be
  // a multiple of kDropoutDraws.
  void factors_of_keys(float* factors, std::int64_t stride, std::uint64_t head_key,
                       std::int64_t first_key, std::int64_t first, std::int64_t n) const;
};

}  // namespace spillway::host
