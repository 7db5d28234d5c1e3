// The kernels by instruction set; `nullptr` where the compiler or the processor lacks them.
#pragma once

#include "kernels/host/tiles/tiles.hpp"

namespace spillway::tiles {

// A panel is a sequence of blocks: 32 lines x 16 cells of 4 bytes, a cell being two bf16 or one f32
// of neighbouring depths. Lines are the rows of a block of `a` and the columns of a block of `b`.
inline constexpr std::int64_t kCells = 16;
inline constexpr std::int64_t kCellBytes = 4;
inline constexpr std::int64_t kRowBytes = kCells * kCellBytes;
inline constexpr std::int64_t kBlockBytes = kPanel * kRowBytes;

// Where a block's rows are: from row to row and from block to block.
struct RowSteps {
  std::int64_t row_bytes, block_bytes;

  explicit RowSteps(TileProduct const& p)
      : row_bytes(p.a_row_bytes > 0 ? p.a_row_bytes : kRowBytes),
        block_bytes(p.a_row_bytes > 0 ? kRowBytes : kBlockBytes) {}
};

// Where a panel of b is: from panel to panel, and from its start to the first depth that is used.
struct PanelSteps {
  std::int64_t panel_bytes, first_bytes;

  PanelSteps(TileProduct const& p, std::int64_t depth_per_block)
      : panel_bytes((p.b_depth > 0 ? p.b_depth : p.depth) / depth_per_block * kBlockBytes),
        first_bytes(p.b_first / depth_per_block * kBlockBytes) {}
};

TileKernels const* amx(DType dtype);
TileKernels const* avx512(DType dtype);
TileKernels const& portable(DType dtype);

// Packing with AVX-512 (and its bf16 conversions), which AMX shares.
void pack_a_bf16_avx512(TileSource const& source, void* panels);
void pack_b_bf16_avx512(TileSource const& source, void* panels);
void pack_a_split_avx512(TileSource const& source, void* panels);  // f32 as three bf16
void pack_b_split_avx512(TileSource const& source, void* panels);
void pack_a_f32_avx512(TileSource const& source, void* panels);
void pack_b_f32_avx512(TileSource const& source, void* panels);

}  // namespace spillway::tiles
