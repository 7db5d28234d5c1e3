// Adds up what rows, and portions of rows, contribute to the loss and its gradients.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace spillway::cuda {

// Puts into the stream: loss[0] = sum of losses and loss[1] = sum of weights, [rows] each, or adds
// them to what is there. Sums are made in fp64 in the order of formulas/sum_lanes.hpp.
void sum_losses(cudaStream_t stream, std::int64_t rows, float const* losses, float const* weights,
                bool add, double* loss);

// Puts into the stream: out[j] = sum over r of rows[r][j], added in fp32 in ascending order, of
// `count` rows whose elements are neighbours. row_stride counts elements.
template <class From, class To>
void sum_columns(cudaStream_t stream, From const* rows, std::int64_t row_stride, std::int64_t count,
                 std::int64_t columns, To* out);

// Puts into the stream: dw[i] = sum[i], or sum[i] + dw[i], rounded once to G.
template <class G>
void round_sum(cudaStream_t stream, float const* sum, std::int64_t elements, bool add, G* dw);

}  // namespace spillway::cuda
