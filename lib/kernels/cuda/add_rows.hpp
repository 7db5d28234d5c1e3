// Adds what cublasLt cannot add: a bias and an addend of bf16 to a product in fp32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/bf16.hpp"

namespace spillway::cuda {

// Strides are numbers of elements from one row to the next; the elements of a row are neighbours.
struct RowsToAdd {
  bf16 const* bias;    // is added to every row; null if there is none
  bf16 const* addend;  // null if there is none
  float* sums;         // [rows, columns]
  std::int64_t rows, columns, row_stride, addend_stride;
};
// Puts sums += bias + addend into the stream, with the bias first.
void add_rows(cudaStream_t stream, RowsToAdd const& of);

}  // namespace spillway::cuda
