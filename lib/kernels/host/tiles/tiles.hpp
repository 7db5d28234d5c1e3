// The functions of TileKernels are the inner loops of matrix products and attention: they pack
// blocks of two factors as the processor's instructions need them, and compute the factors' product
// with fp32 sums. They use neither threads nor allocations, and keep nothing between calls.
//
// A panel holds 32 rows of `a`, or 32 columns of `b`, over the whole depth (the summed dimension),
// padded with zeros to a multiple of kTileDepth. Only the kernels know a panel's form.
#pragma once

#include <cstdint>
#include <span>

#include "base/dtype.hpp"

namespace spillway {

inline constexpr std::int64_t kPanel = 32;      // rows of a, or columns of b, in a panel
inline constexpr std::int64_t kTileDepth = 32;  // the depth is padded to multiples of this

constexpr std::int64_t padded_depth(std::int64_t depth) {
  return (depth + kTileDepth - 1) / kTileDepth * kTileDepth;
}
constexpr std::int64_t panel_count(std::int64_t lines) {
  return (lines + kPanel - 1) / kPanel;
}

// Describes a factor of a product in memory. Its lines are the rows of the left factor `a` or the
// columns of the right factor b.
struct TileSource {
  void const* data = nullptr;  // the first element of the first line
  DType dtype = DType::bf16;
  bool depth_contiguous = true;  // whether a line's elements are neighbours
  // Holds the number of elements from one line to the next if depth_contiguous is true, and from
  // one element of a line to its next one otherwise.
  std::int64_t stride = 0;
  std::int64_t lines = 0, depth = 0;
};

// Describes a product c = a b, or c += a b, with at most kPanel rows.
struct TileProduct {
  void const* a = nullptr;
  std::int64_t a_row_bytes = 0;  // distance of rows that are read in place; 0 if `a` is packed
  void const* b = nullptr;       // packed panels, one after the other
  float* c = nullptr;
  std::int64_t c_stride = 0;                       // in elements, from one row of c to the next
  std::int64_t rows = 0, b_panels = 0, depth = 0;  // each panel of b gives kPanel columns of c
  bool add = false;                                // if false, c is overwritten
  // The product may use only a range of the depth of b's panels. Then b_depth is their padded
  // depth, and b_first, a multiple of kTileDepth, is where in them the range begins.
  std::int64_t b_depth = 0;  // 0 if the product uses all of b's depth
  std::int64_t b_first = 0;
  // next_a and next_b are null, or point to what later products read and kernels may prefetch.
  void const* next_a = nullptr;  // the next product's `a`, packed if this one's is
  void const* next_b = nullptr;
  std::int64_t next_b_bytes = 0;
};

// Returns the number of elements from one row of fp32 sums to the next. It is no power of 2 if
// `columns` is a multiple of kPanel, because rows would then compete for few sets of a cache.
constexpr std::int64_t sums_stride(std::int64_t columns) {
  return columns + 16;
}

// Holds the kernels that one instruction set offers for factors of one type.
struct TileKernels {
  char const* name;                // a part of the text Arithmetic.isa
  std::int64_t bytes_per_element;  // the size of an element in a packed panel
  void (*pack_a)(TileSource const&, void* panels);
  void (*pack_b)(TileSource const&, void* panels);
  void (*product)(TileProduct const&);
  bool matrix_unit;  // whether the instructions multiply matrices, not vectors
  bool reads_rows;   // whether bf16 rows may be `a` without packing (`reads_in_place`)

  // Returns whether `rows` can be the factor `a` without packing. The rows must be contiguous and
  // bf16, and rows.depth, which may count zeros that follow each row, a multiple of kTileDepth.
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
// - For bf16, sources are bf16, or f32 that is rounded to bf16. The exact products are summed.
// - For f32, sources are f32. If the processor multiplies only matrices of bf16, each number is
//   split into three bf16 (exactly: 3 x 8 bits), and the six largest of the nine products are
//   summed. The other three together are less than 2^-22 of a product, about the error of rounding
//   it to fp32 (the scheme of Henry, Tang and Heinecke, arXiv:1904.06376).
TileKernels const& tile_kernels(DType dtype, bool portable);

// Returns all kernels that this processor runs, the fastest first, for tests and benchmarks.
std::span<TileKernels const* const> all_tile_kernels(DType dtype);

}  // namespace spillway
