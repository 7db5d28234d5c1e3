// Declares the kernels of each instruction set. `amx` and `avx512` return null if the compiler or
// the processor lacks the instructions.
#pragma once

#include "kernels/host/tiles/tiles.hpp"

namespace spillway::tiles {

// A panel is a sequence of blocks along the depth (the summed dimension). A block has 32 lines,
// which are rows of `a` or columns of b. A line has 16 cells of 4 bytes, and a cell holds two bf16
// or one f32 of neighbouring depths.
inline constexpr std::int64_t kCells = 16;
inline constexpr std::int64_t kCellBytes = 4;
inline constexpr std::int64_t kRowBytes = kCells * kCellBytes;
inline constexpr std::int64_t kBlockBytes = kPanel * kRowBytes;

// Holds the number of bytes from one row of the factor `a` to the next, and from one of its blocks
// to the next, whether it is packed or read in place.
struct RowSteps {
  std::int64_t row_bytes, block_bytes;

  explicit RowSteps(TileProduct const& p)
      : row_bytes(p.a_row_bytes > 0 ? p.a_row_bytes : kRowBytes),
        block_bytes(p.a_row_bytes > 0 ? kRowBytes : kBlockBytes) {}
};

// Holds the number of bytes of a panel of the factor b (of each of three parts, if numbers are
// split), and of what precedes the first depth that the product uses.
struct PanelSteps {
  std::int64_t panel_bytes, first_bytes;

  PanelSteps(TileProduct const& p, std::int64_t depth_per_block)
      : panel_bytes((p.b_depth > 0 ? p.b_depth : p.depth) / depth_per_block * kBlockBytes),
        first_bytes(p.b_first / depth_per_block * kBlockBytes) {}
};

TileKernels const* amx(DType dtype);
TileKernels const* avx512(DType dtype);
TileKernels const& portable(DType dtype);

// The kernels of AVX-512 and of AMX pack with these functions, which need AVX-512 with its
// conversions to bf16.
void pack_a_bf16_avx512(TileSource const& source, void* panels);
void pack_b_bf16_avx512(TileSource const& source, void* panels);
void pack_a_split_avx512(TileSource const& source, void* panels);  // stores each f32 as three bf16
void pack_b_split_avx512(TileSource const& source, void* panels);
void pack_a_f32_avx512(TileSource const& source, void* panels);
void pack_b_f32_avx512(TileSource const& source, void* panels);

}  // namespace spillway::tiles
