// Products of small fp32 matrices in scratch memory, from which attention is made: c (+)= a b in
// blocks whose sums stay in registers. Sums run over k in order, one fma each.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/function.hpp"

namespace spillway {

// Extents and leading dimensions of tiles are multiples of this; what is beyond the data is zeros.
inline constexpr std::int64_t kTileLanes = 16;
inline constexpr int kTileRows = 8;  // 8 rows x 32 columns: 16 vector registers of sums
static_assert(kTileLanes % kTileRows == 0);

// A k x m or m x k factor: element (i, p) at data[i * row + p * step], one of the strides being 1.
struct RowMajorFactor {
  float const* data;
  std::int64_t stride;

  SPILLWAY_FUNCTION float at(std::int64_t i, std::int64_t p) const { return data[i * stride + p]; }
};
struct ColumnMajorFactor {
  float const* data;
  std::int64_t stride;

  SPILLWAY_FUNCTION float at(std::int64_t i, std::int64_t p) const { return data[p * stride + i]; }
};

// c[0:8, 0:kColumns] at row i of a and of c; b and c begin at the block's first column.
template <int kColumns, class A>
SPILLWAY_FUNCTION void tile_product_block(A a, std::int64_t i, float const* __restrict__ b,
                                          std::int64_t b_stride, float* __restrict__ c,
                                          std::int64_t c_stride, std::int64_t k, bool add) {
  float sum[kTileRows][kColumns];
  for (int r = 0; r < kTileRows; ++r)
#pragma omp simd
    for (int l = 0; l < kColumns; ++l) sum[r][l] = add ? c[(i + r) * c_stride + l] : 0.0f;
  for (std::int64_t p = 0; p < k; ++p) {
    float const* const row = b + p * b_stride;
    for (int r = 0; r < kTileRows; ++r) {
      float const factor = a.at(i + r, p);
#pragma omp simd
      for (int l = 0; l < kColumns; ++l) sum[r][l] = std::fma(factor, row[l], sum[r][l]);
    }
  }
  for (int r = 0; r < kTileRows; ++r)
#pragma omp simd
    for (int l = 0; l < kColumns; ++l) c[(i + r) * c_stride + l] = sum[r][l];
}

struct TileExtents {
  std::int64_t m, n, k;  // m and n multiples of kTileLanes
};

// c[m,n] = a[m,k] b[k,n], or c += with `add`; b and c are row-major.
template <class A>
SPILLWAY_FUNCTION void tile_product(A a, float const* b, std::int64_t b_stride, float* c,
                                    std::int64_t c_stride, TileExtents extents, bool add) {
  std::int64_t j = 0;
  for (; j + 2 * kTileLanes <= extents.n; j += 2 * kTileLanes)
    for (std::int64_t i = 0; i < extents.m; i += kTileRows)
      tile_product_block<2 * kTileLanes>(a, i, b + j, b_stride, c + j, c_stride, extents.k, add);
  for (; j < extents.n; j += kTileLanes)
    for (std::int64_t i = 0; i < extents.m; i += kTileRows)
      tile_product_block<kTileLanes>(a, i, b + j, b_stride, c + j, c_stride, extents.k, add);
}

}  // namespace spillway
