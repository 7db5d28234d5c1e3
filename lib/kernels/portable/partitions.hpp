// Sums the rows of a matrix, in parallel and with bits that do not depend on the number of threads.
// The shape alone cuts the rows into partitions, each partition sums its rows in ascending order
// into a row of the workspace, and these partial rows are then added in the order of partitions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bf16.hpp"
#include "kernels/portable/rows.hpp"

namespace spillway::SPILLWAY_SPACE {

struct Partitions {
  std::int64_t rows, rows_each, count;

  static Partitions of(std::int64_t rows) {
    auto const each = std::max<std::int64_t>(32, div_ceil<std::int64_t>(rows, 256));
    return {rows, each, div_ceil(rows, each)};
  }
  KOKKOS_FUNCTION std::int64_t first(std::int64_t partition) const { return partition * rows_each; }
  KOKKOS_FUNCTION std::int64_t last(std::int64_t partition) const {
    auto const end = first(partition) + rows_each;
    return end < rows ? end : rows;
  }
};

// Launched by for_each_range over columns, an AddRows sets out[j] to the sum of rows(p)[j] over all
// p in [0, count), added in ascending order in fp32 and rounded once. `out` may be one of the rows.
template <class Rows, class To>
struct AddRows {
  Rows rows;
  To* out;
  std::int64_t count;

  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    if constexpr (kLikeDevice) {
      for (auto j = first; j < last; ++j) sum_column(j);
    } else {
      for (auto j = first; j < last; j += RowTeam::kBlock)
        sum_block(j, last - j < RowTeam::kBlock ? static_cast<int>(last - j) : RowTeam::kBlock);
    }
  }

 private:
  // Few threads have a column, so each reads many rows at once.
  KOKKOS_FUNCTION void sum_column(std::int64_t j) const {
    float sum = 0;
    read_ahead<32>(
        0, count, 1, [=, this](std::int64_t p) { return rows(p)[j]; },
        [&](auto value) { sum += to_float(value); });
    out[j] = store<To>(sum);
  }
  KOKKOS_FUNCTION void sum_block(std::int64_t j, int width) const {
    float sum[RowTeam::kBlock] = {};
    for (std::int64_t p = 0; p < count; ++p) {
      auto const* const row = rows(p) + j;
#pragma omp simd
      for (int l = 0; l < width; ++l) sum[l] += to_float(row[l]);
    }
    for (int l = 0; l < width; ++l) out[j + l] = store<To>(sum[l]);
  }
};

// The call operator returns the address of row p of a matrix.
template <class T>
struct MatrixRows {
  T const* first;
  std::int64_t stride;

  KOKKOS_FUNCTION T const* operator()(std::int64_t p) const { return first + p * stride; }
};
using PartialRows = MatrixRows<float>;  // partial sums, a row for each partition

}  // namespace spillway::SPILLWAY_SPACE
