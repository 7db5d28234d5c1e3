// Multiplies in a warp: tiles of rows in shared memory, and fragments. Sums are made in fp32, in
// the order of k. Every lane of a warp must call these functions.
#pragma once

#include "kernels/cuda/attention_fragment.cuh"
#include "kernels/cuda/attention_tile.cuh"

namespace spillway::cuda {

// Both specialisations have the same functions. kNeedsStrip says whether add_by_rows() uses its
// strip.
template <class T>
struct Products;

// Multiplies bf16 with `mma.sync`.
template <>
struct Products<bf16> {
  static constexpr bool kNeedsStrip = false;
  using Words = std::uint32_t[4];

  // c += a b^T, for 16 rows of `a` from first_row on and kColumns rows of b. All but the first
  // head_size columns of `a` and b are 0.
  template <int kColumns, int kWidth>
  static __device__ void add_rows_by_rows(Fragment<kColumns>& c, SharedTile<bf16, kWidth> a,
                                          int first_row, SharedTile<bf16, kWidth> b,
                                          int /*head_size*/) {
#pragma unroll
    for (int k = 0; k < kWidth; k += 16) {
      Words left, right;
      load<false>(left, a.chunk(first_row + lane() % 16, k / 8 + lane() / 16));
#pragma unroll
      for (int n = 0; n < c.kGroups; n += 2) {
        load<false>(right, b.chunk(8 * n + lane() / 16 * 8 + lane() % 8, k / 8 + lane() / 8 % 2));
        multiply_add(c.x[n], left, right[0], right[1]);
        multiply_add(c.x[n + 1], left, right[2], right[3]);
      }
    }
  }

  // c += p b, for the kColumns columns of b from first_column on. p is rounded to bf16.
  template <int kColumns, int kDepth, int kWidth>
  static __device__ void add_by_rows(Fragment<kColumns>& c, Fragment<kDepth> const& p,
                                     float* /*strip*/, SharedTile<bf16, kWidth> b,
                                     int first_column) {
#pragma unroll
    for (int k = 0; k < p.kGroups; k += 2) {
      Words const left = {rounded(p.x[k][0], p.x[k][1]), rounded(p.x[k][2], p.x[k][3]),
                          rounded(p.x[k + 1][0], p.x[k + 1][1]),
                          rounded(p.x[k + 1][2], p.x[k + 1][3])};
#pragma unroll
      for (int n = 0; n < c.kGroups; n += 2) {
        Words right;
        load<true>(right, b.chunk(8 * k + lane() % 16, first_column / 8 + n + lane() / 16));
        multiply_add(c.x[n], left, right[0], right[1]);
        multiply_add(c.x[n + 1], left, right[2], right[3]);
      }
    }
  }

 private:
  // Loads four matrices of 8 rows of 16 bytes; lane 8 m + r has the address of row r of matrix m.
  template <bool kTransposed>
  static __device__ void load(Words& words, void const* row) {
    if constexpr (kTransposed)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(shared_address(row)));
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(shared_address(row)));
  }
  static __device__ void multiply_add(float (&c)[4], Words const& a, std::uint32_t b0,
                                      std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  static __device__ std::uint32_t rounded(float low, float high) {
    std::uint32_t word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
  }
};

// Multiplies fp32 with fused multiply-adds, because tensor cores do not have it.
template <>
struct Products<float> {
  static constexpr bool kNeedsStrip = true;

  template <int kColumns, int kWidth>
  static __device__ void add_rows_by_rows(Fragment<kColumns>& c, SharedTile<float, kWidth> a,
                                          int first_row, SharedTile<float, kWidth> b,
                                          int head_size) {
#pragma unroll 1
    for (int k = 0; k * a.kPerChunk < head_size; ++k) {
      float4 const left[2] = {chunk(a, first_row + fragment_row(0), k),
                              chunk(a, first_row + fragment_row(2), k)};
#pragma unroll
      for (int n = 0; n < c.kGroups; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float4 const right = chunk(b, fragment_column(n, e), k);
          c.x[n][e] = add_dot(left[0], right, c.x[n][e]);
          c.x[n][e + 2] = add_dot(left[1], right, c.x[n][e + 2]);
        }
    }
  }

  // `strip` gets p, so that lanes have whole rows of it. The strip must be free.
  template <int kColumns, int kDepth, int kWidth>
  static __device__ void add_by_rows(Fragment<kColumns>& c, Fragment<kDepth> const& p, float* strip,
                                     SharedTile<float, kWidth> b, int first_column) {
    __syncwarp();
    store_strip(strip, p);
    __syncwarp();
    float const* const rows[2] = {strip + fragment_row(0) * strip_stride(kDepth),
                                  strip + fragment_row(2) * strip_stride(kDepth)};
#pragma unroll 1
    for (int k = 0; k < kDepth; ++k) {
      float const left[2] = {rows[0][k], rows[1][k]};
#pragma unroll
      for (int n = 0; n < c.kGroups; ++n) {
        int const column = first_column + fragment_column(n, 0);
        auto const* const at = reinterpret_cast<float const*>(b.chunk(k, column / 4)) + column % 4;
        float2 const right = *reinterpret_cast<float2 const*>(at);
        c.x[n][0] = fmaf(left[0], right.x, c.x[n][0]);
        c.x[n][1] = fmaf(left[0], right.y, c.x[n][1]);
        c.x[n][2] = fmaf(left[1], right.x, c.x[n][2]);
        c.x[n][3] = fmaf(left[1], right.y, c.x[n][3]);
      }
    }
  }

 private:
  template <int kWidth>
  static __device__ float4 chunk(SharedTile<float, kWidth> tile, int row, int number) {
    return *reinterpret_cast<float4 const*>(tile.chunk(row, number));
  }
  static __device__ float add_dot(float4 a, float4 b, float sum) {
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
  }
};

}  // namespace spillway::cuda
