// These functions are the inner loops of matrix products and attention: they pack blocks of two
// factors as the processor's matrix instructions need them, and compute their product with fp32
// sums. They are plain functions on memory, without threads, allocation or state between calls.
//
// A panel holds 32 rows of `a`, or 32 columns of `b`, over the whole depth (the dimension that is
// summed over), padded with zeros to a multiple of kTileDepth. Only the kernels know its form.
#pragma once

#include <cstdint>
#include <span>

#include "base/dtype.hpp"

namespace spillway {

inline constexpr std::int64_t kPanel = 32;      // rows of a, or columns of b, in a panel
inline constexpr std::int64_t kTileDepth = 32;  // depths are padded to multiples of this

constexpr std::int64_t padded_depth(std::int64_t depth) {
  return (depth + kTileDepth - 1) / kTileDepth * kTileDepth;
}
constexpr std::int64_t panel_count(std::int64_t lines) {
  return (lines + kPanel - 1) / kPanel;
}

// Describes a factor in memory. Its lines are the rows of a or the columns of b.
struct TileSource {
  void const* data = nullptr;  // the first element of the first line
  DType dtype = DType::bf16;
  bool depth_contiguous = true;  // whether a line's elements are neighbours; if not, lines are
  // Holds the number of elements from line to line or, if lines are neighbours, from depth to
  // depth.
  std::int64_t stride = 0;
  std::int64_t lines = 0, depth = 0;
};

// Describes a product c = a b, or c += a b, with at most kPanel rows.
struct TileProduct {
  void const* a = nullptr;
  std::int64_t a_row_bytes = 0;  // from row to row of bf16 in memory; 0 if a is a packed panel
  void const* b = nullptr;       // panels, one after another
  float* c = nullptr;
  std::int64_t c_stride = 0;                       // in elements
  std::int64_t rows = 0, b_panels = 0, depth = 0;  // each panel of b gives kPanel columns of c
  bool add = false;                                // if false, c is overwritten
  // The panels of b may be deeper than the product. Then b_depth is their padded depth, and b_first
  // is the depth in them that meets the first depth of a; it is a multiple of kTileDepth.
  std::int64_t b_depth = 0;  // 0 if b is as deep as the product
  std::int64_t b_first = 0;
  // Later products read this memory, and kernels may fetch it into the second-level cache.
  void const* next_a = nullptr;  // the factor a of the next product, in the form that `a` has
  void const* next_b = nullptr;
  std::int64_t next_b_bytes = 0;
};

// Returns the number of elements from row to row of fp32 sums. It is never a power of 2, with which
// the rows of a tile would share few sets of a cache.
constexpr std::int64_t sums_stride(std::int64_t columns) {
  return columns + 16;
}

// Holds the kernels that one kind of instructions offers for factors of one type.
struct TileKernels {
  char const* name;                // a part of Arithmetic.isa
  std::int64_t bytes_per_element;  // in a packed panel
  void (*pack_a)(TileSource const&, void* panels);
  void (*pack_b)(TileSource const&, void* panels);
  void (*product)(TileProduct const&);
  bool matrix_unit;  // whether the instructions multiply matrices, not vectors
  bool reads_rows;   // whether a may be rows in memory, as `reads_in_place` says

  // Returns whether rows can be the factor a without packing. They must be bf16, and their depth,
  // with zeros that follow them, a multiple of kTileDepth.
  bool reads_in_place(TileSource const& rows) const {
    return reads_rows && rows.dtype == DType::bf16 && rows.depth_contiguous &&
           rows.depth % kTileDepth == 0;
  }
  std::int64_t panel_bytes(std::int64_t depth) const {
    return kPanel * padded_depth(depth) * bytes_per_element;
  }
};

// Returns the fastest kernels that this processor runs or, with `portable`, plain loops, whose bits
// are the same on all x86 processors.
// - For bf16, sources are bf16, or f32 that is rounded to it. The exact products are summed.
// - For f32, sources are f32. If the processor multiplies only matrices of bf16, each number is
//   split into three bf16 (exactly: 3 x 8 bits), and the six largest of the nine products are
//   summed. That drops less than 2^-22 of a product, about as much as rounding it to fp32 would
//   (the scheme of Henry, Tang and Heinecke, arXiv:1904.06376).
TileKernels const& tile_kernels(DType dtype, bool portable);

// Returns all kernels that this processor runs, the fastest first, for tests and benchmarks.
std::span<TileKernels const* const> all_tile_kernels(DType dtype);

}  // namespace spillway
