// Says how a product is cut into blocks for caches and threads, and where its packed panels and its
// sums lie. This follows from the shape, the kernels and the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/math.hpp"
#include "kernels/host/tiles/tiles.hpp"
#include "kernels/matrix.hpp"

namespace spillway::host {

// Cuts [0, extent) into pieces of `size`, a multiple of kPanel. The last piece may be shorter.
struct Blocks {
  std::int64_t extent = 0, size = 1, count = 0;

  Blocks() = default;
  Blocks(std::int64_t all, std::int64_t pieces)
      : extent(all), size(round_up(div_ceil(all, pieces), kPanel)), count(div_ceil(all, size)) {}
  std::int64_t first(std::int64_t i) const { return i * size; }
  std::int64_t length(std::int64_t i) const { return std::min(size, extent - i * size); }
};

// Says how a block of c gets the panels of a factor. It reads the rows in place, reads panels that
// were packed ahead for all blocks, or packs its own (`per_block`), if panels packed ahead and kept
// sums of c would take too much memory.
enum class Supply : std::uint8_t { in_place, ahead, per_block };

struct Factor {
  TileSource source;  // its `data` is not set
  Supply supply = Supply::per_block;
  std::int64_t offset = 0;  // in bytes, in the workspace (ahead) or a block's scratch (per_block)
  // `at_once` and `through` matter only if panels are packed ahead: an item of work packs `at_once`
  // panels, for all depth blocks of a pass if `through` is true, and else for one.
  std::int64_t at_once = 1;
  bool through = false;

  std::int64_t panels() const { return panel_count(source.lines); }
  std::int64_t groups() const { return div_ceil(panels(), at_once); }
  std::int64_t items(std::int64_t depth_blocks) const {
    if (supply != Supply::ahead) return 0;
    return through ? groups() : groups() * depth_blocks;
  }
};

// A TileCut says how a product is cut. The depth is taken in passes of several depth blocks, and
// what is packed ahead is packed for one pass at a time. If there are several passes, the sums of c
// stay in scratch from one to the next.
struct TileCut {
  TileKernels const* kernels;
  std::int64_t workers;
  Blocks rows, columns, depth;  // c's rows and columns, and the depth (what is summed over)
  std::int64_t pass = 0;        // how many depth blocks a pass has
  Factor a, b;
  // Each block has scratch_bytes of scratch if sums are kept, and else each worker has. The first
  // piece begins at scratch_offset. Such a piece holds [sums | panels of a | panels of b].
  std::int64_t scratch_offset = 0, scratch_bytes = 0;

  // The rows of `shape.c` must be contiguous.
  TileCut(MatmulShape const& shape, bool a_zero_padded, TileKernels const& kernels,
          std::int64_t threads);

  std::int64_t blocks() const { return rows.count * columns.count; }
  bool keeps_sums() const { return pass < depth.count; }
  std::int64_t scratches() const { return keeps_sums() ? blocks() : workers; }
  std::int64_t sums_row() const { return sums_stride(columns.size); }
  std::int64_t panel_bytes() const { return kernels->panel_bytes(depth.size); }
  std::int64_t workspace_bytes() const { return scratch_offset + scratches() * scratch_bytes; }

  // Returns the number of bytes from a factor's offset to a panel that is packed ahead.
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
