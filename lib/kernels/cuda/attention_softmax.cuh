// Computes the softmax of 16 rows while their scores come (Dao, FlashAttention-2,
// arXiv:2307.08691).
#pragma once

#include "kernels/cuda/attention_scores.cuh"

namespace spillway::cuda {

// The running maximum of a row's scores begins with this number. It is finite, so that a difference
// of two maxima is never NaN.
inline constexpr float kLowest = -1e30f;

// These sum over the four lanes that share a row, or take their maximum.
__device__ inline float sum_of_row(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}
__device__ inline float largest_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

// A lane has two rows: fragment_row(0) and fragment_row(2).
struct OnlineSoftmax {
  float top[2] = {kLowest, kLowest};  // has the running maxima of the exponents
  float sum[2] = {0, 0};              // sums the weights that the lane has

  // Turns scores into weights 2^(factor * score - top), and scales the sums to the new maxima.
  template <int kColumns, int kWidth>
  __device__ void weigh(Fragment<kColumns>& scores, float factor, Fragment<kWidth>& o) {
    float shrink[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = top[half];
#pragma unroll
      for (int n = 0; n < scores.kGroups; ++n)
        largest = fmaxf(largest, factor * fmaxf(scores.x[n][2 * half], scores.x[n][2 * half + 1]));
      largest = largest_of_row(largest);
      shrink[half] = exp2_approximate(top[half] - largest);
      top[half] = largest;
      sum[half] *= shrink[half];
    }
    scores.each([&](float& x, int, int e) {
      x = exp2_approximate(fmaf(factor, x, -top[e / 2]));
      sum[e / 2] += x;
    });
    o.each([&](float& x, int, int e) { x *= shrink[e / 2]; });
  }
};

}  // namespace spillway::cuda
