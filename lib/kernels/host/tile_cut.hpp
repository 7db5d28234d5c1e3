// How a product is cut into blocks for the caches and threads, and where its packed panels and sums
// lie. Plain data, from shape, kernels and the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/math.hpp"
#include "kernels/host/tiles/tiles.hpp"
#include "kernels/matrix.hpp"

namespace spillway::host {

// [0, extent) in pieces of `size`, a multiple of kPanel, of which the last may be shorter.
struct Blocks {
  std::int64_t extent = 0, size = 1, count = 0;

  Blocks() = default;
  Blocks(std::int64_t all, std::int64_t pieces)
      : extent(all), size(round_up(div_ceil(all, pieces), kPanel)), count(div_ceil(all, size)) {}
  std::int64_t first(std::int64_t i) const { return i * size; }
  std::int64_t length(std::int64_t i) const { return std::min(size, extent - i * size); }
};

// Panels are read where the rows are, or packed ahead for all blocks, or, where neither they nor
// c's sums may take so much memory, by each block of c for itself.
enum class Supply : std::uint8_t { in_place, ahead, per_block };

struct Factor {
  TileSource source;  // without data
  Supply supply = Supply::per_block;
  std::int64_t offset = 0;   // bytes: in the workspace (ahead) or in a block's scratch (per_block)
  std::int64_t at_once = 1;  // panels that one item packs (ahead),
  bool through = false;      // and whether of all of a pass's depth, or of one depth block

  std::int64_t panels() const { return panel_count(source.lines); }
  std::int64_t groups() const { return div_ceil(panels(), at_once); }
  std::int64_t items(std::int64_t depth_blocks) const {
    if (supply != Supply::ahead) return 0;
    return through ? groups() : groups() * depth_blocks;
  }
};

// Depth is taken in passes of some depth blocks each: all that is packed ahead is packed for one
// pass. If there are several, c's sums stay in scratch from one to the next.
struct TileCut {
  TileKernels const* kernels;
  std::int64_t workers;
  Blocks rows, columns, depth;  // of c's rows and columns; of what is summed over
  std::int64_t pass = 0;        // depth blocks
  Factor a, b;
  std::int64_t scratch_offset = 0, scratch_bytes = 0;  // [sums | a's panels | b's], of the first

  // `shape`: c's rows contiguous.
  TileCut(MatmulShape const& shape, bool a_zero_padded, TileKernels const& kernels,
          std::int64_t threads);

  std::int64_t blocks() const { return rows.count * columns.count; }
  bool keeps_sums() const { return pass < depth.count; }
  std::int64_t scratches() const { return keeps_sums() ? blocks() : workers; }
  std::int64_t sums_row() const { return sums_stride(columns.size); }
  std::int64_t panel_bytes() const { return kernels->panel_bytes(depth.size); }
  std::int64_t workspace_bytes() const { return scratch_offset + scratches() * scratch_bytes; }

  // Bytes from a factor's offset to a panel that is packed ahead.
  std::int64_t ahead_bytes(Factor const& f, std::int64_t depth_block, std::int64_t panel) const {
    return depth_block % pass * f.panels() * panel_bytes() +
           panel * kernels->panel_bytes(depth.length(depth_block));
  }

 private:
  void choose_supplies(MatmulShape const& shape, bool a_zero_padded);
  void cut_blocks(MatmulShape const& shape);
  void place();
};

}  // namespace spillway::host
