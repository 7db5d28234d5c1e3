#include "kernels/cuda/loss_rows.hpp"

#include <cmath>

#include "base/bf16.hpp"
#include "kernels/formulas/fast_math.hpp"

namespace spillway::cuda {
namespace {

// A row of logits may have 150,000 columns, so many threads share it. The bits of the sum depend on
// their number, which therefore is the same for every row.
constexpr int kRowThreads = 512, kWarp = 32, kRowWarps = kRowThreads / kWarp;
constexpr int kGroup = 4;  // is how many columns a thread takes at a time, in a load of 16 bytes
constexpr unsigned kAllLanes = 0xffffffff;
constexpr float kLeast = -3.402823466e+38f;  // is the least finite number

// Holds the largest of some logits, or kLeast if that is larger, and the sum of e^(logit - top).
// `top` is never -inf, so that logits which are -inf add 0.
struct Exponentials {
  float top, sum;
};

__device__ float larger(float a, float b) {
  return b > a ? b : a;
}

__device__ Exponentials merged(Exponentials const& a, Exponentials const& b) {
  float const top = larger(a.top, b.top);
  return {top, a.sum * fast_exp(a.top - top) + b.sum * fast_exp(b.top - top)};
}

// Merges what the lanes of a warp have; lane 0 then has all of it.
__device__ Exponentials merged_in_warp(Exponentials part) {
  for (int apart = kWarp / 2; apart > 0; apart /= 2) {
    Exponentials const other{__shfl_down_sync(kAllLanes, part.top, apart),
                             __shfl_down_sync(kAllLanes, part.sum, apart)};
    part = merged(part, other);
  }
  return part;
}

// Merges what the threads of a block have. Returns all of it on every thread.
__device__ Exponentials merged_in_block(Exponentials part) {
  __shared__ Exponentials of_warps[kRowWarps];
  part = merged_in_warp(part);
  int const thread = static_cast<int>(threadIdx.x);
  if (thread % kWarp == 0) of_warps[thread / kWarp] = part;
  __syncthreads();
  Exponentials all = of_warps[0];
  for (int warp = 1; warp < kRowWarps; ++warp) all = merged(all, of_warps[warp]);
  return all;
}

// Reads the logits of one row, which are scale (product + bias).
template <class T>
struct Logits {
  float const* products;
  T const* bias;
  std::int64_t vocab;
  float scale;

  __device__ float of(float product, std::int64_t j) const {
    return scale * (bias ? product + to_float(bias[j]) : product);
  }
  __device__ float at(std::int64_t j) const { return of(products[j], j); }

  // Reads the logits of the columns [first, first + kGroup). Beyond the vocabulary they are -inf.
  __device__ void read(std::int64_t first, float (&logit)[kGroup]) const {
    if (first + kGroup <= vocab) {
      auto const four = *reinterpret_cast<float4 const*>(products + first);
      float const product[kGroup] = {four.x, four.y, four.z, four.w};
      for (int i = 0; i < kGroup; ++i) logit[i] = of(product[i], first + i);
    } else {
      for (int i = 0; i < kGroup; ++i) logit[i] = first + i < vocab ? at(first + i) : -INFINITY;
    }
  }
};

// Every thread of a block calls body(first column) for its groups of a row, in ascending order.
template <class Body>
__device__ void for_groups(std::int64_t vocab, Body const& body) {
  for (std::int64_t j = threadIdx.x * kGroup; j < vocab; j += kRowThreads * kGroup) body(j);
}

template <class T>
__device__ Exponentials exponentials(Logits<T> const& logits) {
  Exponentials all{kLeast, 0};
  for_groups(logits.vocab, [&](std::int64_t first) {
    float logit[kGroup];
    logits.read(first, logit);
    float top = all.top;
    for (float const x : logit) top = larger(top, x);
    float sum = all.sum * fast_exp(all.top - top);
    for (float const x : logit) sum += fast_exp(x - top);
    all = {top, sum};
  });
  return merged_in_block(all);
}

// Stores values for the columns [first, first + kGroup) that are in the vocabulary.
template <class T>
__device__ void store_group(float const (&values)[kGroup], std::int64_t first, std::int64_t vocab,
                            T* row) {
  struct alignas(kGroup * sizeof(T)) Group {
    T at[kGroup];
  } group;
  for (int i = 0; i < kGroup; ++i) group.at[i] = store<T>(values[i]);
  if (first + kGroup <= vocab) {
    *reinterpret_cast<Group*>(row + first) = group;
  } else {
    for (int i = 0; first + i < vocab; ++i) row[first + i] = group.at[i];
  }
}

template <class T>
__device__ void store_slopes(Logits<T> const& logits, Exponentials const& all, std::int64_t target,
                             float slope, T* slopes) {
  float const share = 1.0f / all.sum;
  for_groups(logits.vocab, [&](std::int64_t first) {
    float logit[kGroup];
    logits.read(first, logit);
    for (int i = 0; i < kGroup; ++i) {
      float const p = fast_exp(logit[i] - all.top) * share;
      logit[i] = slope * (first + i == target ? p - 1.0f : p);
    }
    store_group(logit, first, logits.vocab, slopes);
  });
}

template <class T>
__device__ void store_zeros(std::int64_t vocab, T* slopes) {
  for (std::int64_t j = threadIdx.x; j < vocab; j += kRowThreads) slopes[j] = store<T>(0.0f);
}

template <class T>
__global__ void __launch_bounds__(kRowThreads) loss_of_row(LossRows<T> of) {
  std::int64_t const row = blockIdx.x;
  Logits<T> const logits{of.products + row * of.row_stride, of.bias, of.vocab, of.scale};
  T* const slopes = of.slopes ? of.slopes + row * of.row_stride : nullptr;
  float const weight = of.weights[row];
  if (weight == 0) {
    if (threadIdx.x == 0) of.losses[row] = 0;
    if (slopes) store_zeros(of.vocab, slopes);
    return;
  }
  std::int64_t const target = of.targets[row];
  float const at_target = logits.at(target);
  auto const all = exponentials(logits);  // all threads have read the row when this returns
  if (threadIdx.x == 0) of.losses[row] = weight * (std::log(all.sum) + (all.top - at_target));
  if (slopes) store_slopes(logits, all, target, weight * of.scale, slopes);
}

}  // namespace

template <class T>
void loss_rows(cudaStream_t stream, LossRows<T> const& of) {
  loss_of_row<T><<<static_cast<unsigned>(of.rows), kRowThreads, 0, stream>>>(of);
}
template void loss_rows(cudaStream_t, LossRows<float> const&);
template void loss_rows(cudaStream_t, LossRows<bf16> const&);

}  // namespace spillway::cuda
