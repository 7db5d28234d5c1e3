// Multiplies fp32 matrices so that each element of the result is one chain of fused products and
// sums, in ascending order of the summed index. So the bits are the same on all devices and the
// host lane, however the matrices are cut. It is for ops that may run on either; others use
// products of vendors, which are faster.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/function.hpp"
#include "base/math.hpp"
#include "kernels/portable/space.hpp"

namespace spillway::SPILLWAY_SPACE {

// Describes out = alpha left right + beta addend. All matrices lie row by row without gaps, and
// `out` is none of the others. Nothing is done unless *go is 1.
struct ChainFactors {
  float const *left, *right, *addend;  // [rows, depth], [depth, columns], [rows, columns]
  float* out;
  std::int64_t rows, columns, depth;
  float alpha, beta;
  double const* go;

  KOKKOS_FUNCTION void write(std::int64_t at, float sum) const {
    out[at] = beta == 0 ? alpha * sum : std::fma(alpha, sum, beta * addend[at]);
  }
};

// On a host a unit is a block of the result whose part of `right` is packed, a range of the depth
// at a time, and then used for all rows of the block.
struct ChainOnHost {
#ifdef __AVX512F__
  static constexpr int kRows = 8;
#else
  static constexpr int kRows = 3;
#endif
  static constexpr int kColumns = 32;
  static constexpr std::int64_t kBlockRows = 96, kBlockColumns = 128, kDepth = 256;

  ChainFactors of;

  std::int64_t units() const {
    return div_ceil(of.rows, kBlockRows) * blocks_of_columns();
  }
  void operator()(std::int64_t unit) const {
    on_host(unit);
  }
  void on_host(std::int64_t unit) const {
    if (*of.go != 1) return;
    auto const row = unit / blocks_of_columns() * kBlockRows;
    auto const column = unit % blocks_of_columns() * kBlockColumns;
    auto const end = std::min(column + kBlockColumns, of.columns);
    for (std::int64_t k = 0; k < of.depth; k += kDepth)
      for (auto j = column; j < end; j += kColumns) multiply(row, j, k);
  }

 private:
  std::int64_t blocks_of_columns() const {
    return div_ceil(of.columns, kBlockColumns);
  }

  // Adds what the depth from k on gives to a block of kColumns columns.
  void multiply(std::int64_t row, std::int64_t column, std::int64_t k) const {
    alignas(64) float packed[kDepth * kColumns];
    auto const depth = std::min(kDepth, of.depth - k);
    auto const width = static_cast<int>(std::min<std::int64_t>(kColumns, of.columns - column));
    pack(of.right + k * of.columns + column, depth, width, packed);
    auto const end = std::min(row + kBlockRows, of.rows);
    for (; row + kRows <= end; row += kRows) add<kRows>(row, column, k, depth, width, packed);
    for (; row < end; ++row) add<1>(row, column, k, depth, width, packed);
  }
  void pack(float const* from, std::int64_t depth, int width, float* to) const {
    for (std::int64_t k = 0; k < depth; ++k)
      for (int l = 0; l < kColumns; ++l)
        to[k * kColumns + l] = l < width ? from[k * of.columns + l] : 0;
  }

  // Sums of a depth that goes on wait in `out`.
  template <int rows>
  void add(std::int64_t row, std::int64_t column, std::int64_t k, std::int64_t depth, int width,
           float const* __restrict__ packed) const {
    alignas(64) float sums[rows][kColumns] = {};
    for (int r = 0; r < rows && k > 0; ++r)
      for (int l = 0; l < width; ++l) sums[r][l] = of.out[(row + r) * of.columns + column + l];
    chain<rows>(of.left + row * of.depth + k, of.depth, packed, depth, sums);
    bool const is_last = k + depth == of.depth;
    for (int r = 0; r < rows; ++r) {
      auto const at = (row + r) * of.columns + column;
      for (int l = 0; l < width; ++l) {
        if (is_last)
          of.write(at + l, sums[r][l]);
        else
          of.out[at + l] = sums[r][l];
      }
    }
  }

  template <int rows>
  static void chain(float const* __restrict__ left, std::int64_t stride,
                    float const* __restrict__ packed, std::int64_t depth,
                    float (&all)[rows][kColumns]) {
    float sums[rows][kColumns];  // a local copy, which stays in registers
    for (int r = 0; r < rows; ++r)
#pragma omp simd
      for (int l = 0; l < kColumns; ++l) sums[r][l] = all[r][l];
    for (std::int64_t k = 0; k < depth; ++k) {
      for (int r = 0; r < rows; ++r) {
        float const factor = left[r * stride + k];
#pragma omp simd
        for (int l = 0; l < kColumns; ++l)
          sums[r][l] = std::fma(factor, packed[k * kColumns + l], sums[r][l]);
      }
    }
    for (int r = 0; r < rows; ++r)
#pragma omp simd
      for (int l = 0; l < kColumns; ++l) all[r][l] = sums[r][l];
  }
};

// On a device a unit is a few rows and columns of the result. Neighbouring threads have
// neighbouring columns.
struct ChainOnDevice {
  static constexpr int kRows = 4, kColumns = 4, kApart = 32;

  ChainFactors of;

  std::int64_t units() const { return div_ceil<std::int64_t>(of.rows, kRows) * units_of_row(); }
  KOKKOS_FUNCTION void operator()(std::int64_t unit) const {
    if (*of.go != 1) return;
    auto const row = unit / units_of_row() * kRows, in_row = unit % units_of_row();
    auto const column = in_row / kApart * (kApart * kColumns) + in_row % kApart;
    float sums[kRows][kColumns] = {};
    for (std::int64_t k = 0; k < of.depth; ++k) add(row, column, k, sums);
    for (int r = 0; r < kRows && row + r < of.rows; ++r)
      for (int c = 0; c < kColumns && column + c * kApart < of.columns; ++c)
        of.write((row + r) * of.columns + column + c * kApart, sums[r][c]);
  }

 private:
  KOKKOS_FUNCTION std::int64_t units_of_row() const {
    return (of.columns + kApart * kColumns - 1) / (kApart * kColumns) * kApart;
  }
  // Rows and columns behind the end are read as the last ones.
  KOKKOS_FUNCTION void add(std::int64_t row, std::int64_t column, std::int64_t k,
                           float (&sums)[kRows][kColumns]) const {
    float left[kRows], right[kColumns];
    for (int r = 0; r < kRows; ++r) left[r] = of.left[least(row + r, of.rows) * of.depth + k];
    for (int c = 0; c < kColumns; ++c)
      right[c] = of.right[k * of.columns + least(column + c * kApart, of.columns)];
    for (int r = 0; r < kRows; ++r)
      for (int c = 0; c < kColumns; ++c) sums[r][c] = std::fma(left[r], right[c], sums[r][c]);
  }
  KOKKOS_FUNCTION static std::int64_t least(std::int64_t at, std::int64_t end) {
    return at < end ? at : end - 1;
  }
};

}  // namespace spillway::SPILLWAY_SPACE
