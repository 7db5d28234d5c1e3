// Drops attention's weights in the fragments of a warp, as host::WeightDropout does: by the draws
// of one Philox block for each query and four keys.
#pragma once

#include "kernels/cuda/attention_fragment.cuh"
#include "kernels/cuda/attention_shape.cuh"
#include "kernels/formulas/dropout.hpp"

namespace spillway::cuda {

// Has the factors of a lane's elements in one group of 8 columns.
struct Factors {
  float x[4];
};

struct HeadDropout {
  std::uint64_t key;
  float p, scale;
  bool drops;

  __device__ HeadDropout(DropoutOperands const& o, int sequence, int head)
      : key(o.samples ? attention_head_key(o.seed, o.origin, head, o.samples[sequence]) : 0),
        p(o.p),
        scale(o.scale),
        drops(o.samples != nullptr) {}

  // Multiplies weights by their factors, where rows are queries and columns are keys.
  template <int kColumns>
  __device__ void drop_keys(Fragment<kColumns>& weights, int first_query, int first_key) const {
    if (!drops) return;
#pragma unroll
    for (int n = 0; n < weights.kGroups; ++n) {
      auto const factors = of_keys(first_query, first_key + 8 * n);
#pragma unroll
      for (int e = 0; e < 4; ++e) weights.x[n][e] *= factors.x[e];
    }
  }

  // Returns the factors where rows are queries, and columns the 8 keys from first_key on. Two lanes
  // share the four keys of a block: each draws for one of their two queries.
  __device__ Factors of_keys(int first_query, int first_key) const {
    bool const is_odd = lane() % 2 != 0;
    auto const own =
        draws(first_query + fragment_row(is_odd ? 2 : 0), first_key + fragment_column(0, 0));
    auto const low = __shfl_xor_sync(~0u, is_odd ? own.x[0] : own.x[2], 1);
    auto const high = __shfl_xor_sync(~0u, is_odd ? own.x[1] : own.x[3], 1);
    if (is_odd) return {factor(low), factor(high), factor(own.x[2]), factor(own.x[3])};
    return {factor(own.x[0]), factor(own.x[1]), factor(low), factor(high)};
  }

  // Returns the factors where rows are keys, and columns the 8 queries from first_query on. Four
  // lanes share the four keys of a block: each draws for another one of their elements.
  __device__ Factors of_queries(int first_key, int first_query) const {
    int const own = lane() / 4 % 4;
    auto const drawn = draws(first_query + fragment_column(0, own), first_key + fragment_row(own));
    std::uint32_t received[4];
#pragma unroll
    for (int other = 0; other < 4; ++other)
      received[other] = __shfl_xor_sync(~0u, pick(drawn.x, own ^ other), 4 * other);
    Factors result;
#pragma unroll
    for (int e = 0; e < 4; ++e) result.x[e] = factor(pick(received, own ^ e));
    return result;
  }

 private:
  __device__ PhiloxBlock draws(int query, int key_of_block) const {
    return philox(key, static_cast<std::uint64_t>(query),
                  static_cast<std::uint64_t>(key_of_block / kDropoutDraws));
  }
  __device__ float factor(std::uint32_t draw) const {
    return dropout_factor(draw, p, scale);
  }
  static __device__ std::uint32_t pick(std::uint32_t const (&from)[4], int i) {
    auto const low = i % 2 ? from[1] : from[0], high = i % 2 ? from[3] : from[2];
    return i / 2 ? high : low;
  }
};

}  // namespace spillway::cuda
