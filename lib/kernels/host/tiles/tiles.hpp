// The inner loop of matrix products and attention: blocks of two factors, packed as the processor's
// matrix instructions want them, and their product with fp32 sums. Plain functions on memory: no
// threads, no allocation, no state between calls.
//
// A panel holds 32 rows of `a`, or 32 columns of `b`, over the whole depth (the dimension that is
// summed over), zero-padded to blocks of kTileDepth. Its form is the kernels' own.
#pragma once

#include <cstdint>
#include <span>

#include "base/dtype.hpp"

namespace spillway {

inline constexpr std::int64_t kPanel = 32;      // rows of a or columns of b
inline constexpr std::int64_t kTileDepth = 32;  // depths are padded to multiples of it

constexpr std::int64_t padded_depth(std::int64_t depth) {
  return (depth + kTileDepth - 1) / kTileDepth * kTileDepth;
}
constexpr std::int64_t panel_count(std::int64_t lines) {
  return (lines + kPanel - 1) / kPanel;
}

// A factor in memory. Its lines are the rows of a or the columns of b.
struct TileSource {
  void const* data = nullptr;  // element 0 of line 0
  DType dtype = DType::bf16;
  bool depth_contiguous = true;  // else lines are neighbours
  std::int64_t stride = 0;       // elements between lines; else between depths
  std::int64_t lines = 0, depth = 0;
};

// c (+)= a b of at most kPanel rows.
struct TileProduct {
  void const* a = nullptr;
  std::int64_t a_row_bytes = 0;  // 0: a packed panel; else from row to row of bf16 in memory
  void const* b = nullptr;       // panels, one after another
  float* c = nullptr;
  std::int64_t c_stride = 0;                       // elements
  std::int64_t rows = 0, b_panels = 0, depth = 0;  // columns of c: kPanel for each of b_panels
  bool add = false;                                // else c is overwritten
  // Where b's panels are deeper than the product: their padded depth, and the depth that a's first
  // one meets, a multiple of kTileDepth.
  std::int64_t b_depth = 0;  // 0: depth
  std::int64_t b_first = 0;
  // What later products read, and may be fetched into the second cache meanwhile.
  void const* next_a = nullptr;  // of the next one, like a
  void const* next_b = nullptr;
  std::int64_t next_b_bytes = 0;
};

// From row to row of fp32 sums: with a power of 2, a tile's rows would share few sets of a cache.
constexpr std::int64_t sums_stride(std::int64_t columns) {
  return columns + 16;
}

// What one kind of instructions offers for factors of one type.
struct TileKernels {
  char const* name;                // part of Arithmetic
  std::int64_t bytes_per_element;  // of a panel
  void (*pack_a)(TileSource const&, void* panels);
  void (*pack_b)(TileSource const&, void* panels);
  void (*product)(TileProduct const&);
  bool matrix_unit;  // instructions that multiply matrices, not vectors
  bool reads_rows;   // `a` may also be rows in memory: see reads_in_place

  // Rows of bf16 in whole tiles, zeros at their ends counted.
  bool reads_in_place(TileSource const& rows) const {
    return reads_rows && rows.dtype == DType::bf16 && rows.depth_contiguous &&
           rows.depth % kTileDepth == 0;
  }
  std::int64_t panel_bytes(std::int64_t depth) const {
    return kPanel * padded_depth(depth) * bytes_per_element;
  }
};

// bf16: sources are bf16, or f32 that are rounded to it; sums of exact products.
// f32: sources are f32. Where the processor multiplies matrices of bf16 only, numbers are split
// into three bf16 each (exactly: 3 x 8 bits) and the six largest of their nine products are summed,
// which drops less than 2^-22 of a product: about what rounding it to fp32 would (the scheme of
// Henry, Tang and Heinecke, arXiv:1904.06376).
// The fastest that this processor runs, or plain loops, whose bits are the same on all of x86.
TileKernels const& tile_kernels(DType dtype, bool portable);

// All that this processor runs, the fastest first: for tests and benchmarks.
std::span<TileKernels const* const> all_tile_kernels(DType dtype);

}  // namespace spillway
