// Writes the rows of a result that a warp has.
#pragma once

#include "base/bf16.hpp"
#include "kernels/cuda/attention_fragment.cuh"
#include "kernels/cuda/attention_shape.cuh"

namespace spillway::cuda {

template <class T>
struct alignas(2 * sizeof(T)) Two {
  T first, second;
};

// Returns whether the elements 2 n and 2 n + 1 of each of a head's rows can be written together.
template <class T>
__device__ bool has_whole_pairs(HeadRows<T> const& rows) {
  auto const elements = reinterpret_cast<std::int64_t>(rows.data) / std::int64_t{sizeof(T)};
  return ((elements | rows.stride | rows.head_size) & 1) == 0;
}

// Writes factor(e) * x for the rows of one head from first_row on that are there, and the columns
// from first_column on.
template <class T, int kColumns, class Factor>
__device__ void store_rows(HeadRows<T> const& to, int sequence, int head, int first_row,
                           int first_column, Fragment<kColumns> const& from, Factor const& factor) {
  bool const has_pairs = has_whole_pairs(to);
#pragma unroll
  for (int e = 0; e < 4; e += 2) {
    int const row = first_row + fragment_row(e);
    if (row >= to.rows) continue;
    T* const at = to.at(sequence, row, head);
    float const by = factor(e);
#pragma unroll
    for (int n = 0; n < from.kGroups; ++n) {
      int const column = first_column + fragment_column(n, 0);
      Two<T> const two{store<T>(by * from.x[n][e]), store<T>(by * from.x[n][e + 1])};
      if (has_pairs) {
        if (column < to.head_size) *reinterpret_cast<Two<T>*>(at + column) = two;
      } else {
        if (column < to.head_size) at[column] = two.first;
        if (column + 1 < to.head_size) at[column + 1] = two.second;
      }
    }
  }
}

}  // namespace spillway::cuda
