// Says how a product is cut into blocks for caches and threads, and where its packed panels and its
// sums lie. The cut follows from the shape, the kernels and the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/math.hpp"
#include "kernels/host/tiles/tiles.hpp"
#include "kernels/matrix.hpp"

namespace spillway::host {

// Cuts [0, extent) into `count` blocks of `size` numbers, a multiple of kPanel. The last block may
// be shorter.
struct Blocks {
  std::int64_t extent = 0, size = 1, count = 0;

  Blocks() = default;
  Blocks(std::int64_t all, std::int64_t pieces)
      : extent(all), size(round_up(div_ceil(all, pieces), kPanel)), count(div_ceil(all, size)) {}
  std::int64_t first(std::int64_t i) const { return i * size; }
  std::int64_t length(std::int64_t i) const { return std::min(size, extent - i * size); }
};

// Says how a block of c gets a factor: it reads the factor's rows in place, it reads panels that
// were packed ahead for all blocks, or it packs panels of its own (`per_block`), if panels packed
// ahead and sums of c that are kept would take too much memory.
enum class Supply : std::uint8_t { in_place, ahead, per_block };

struct Factor {
  TileSource source;  // the `data` pointer is not set
  Supply supply = Supply::per_block;
  std::int64_t offset = 0;  // in bytes, in the workspace (ahead) or a block's scratch (per_block)
  // If panels are packed ahead, a unit of work packs `at_once` panels: for one block of the depth
  // or, if `through` is true, for all blocks of the depth that are packed at a time.
  std::int64_t at_once = 1;
  bool through = false;

  std::int64_t panels() const { return panel_count(source.lines); }
  std::int64_t groups() const { return div_ceil(panels(), at_once); }
  std::int64_t units(std::int64_t depth_blocks) const {
    if (supply != Supply::ahead) return 0;
    return through ? groups() : groups() * depth_blocks;
  }
};

// A TileCut says how a product is cut. What is packed ahead is packed for `pass` blocks of the
// depth at a time. If the depth has more blocks, the sums of c are kept in scratch until the last
// of them has been added.
struct TileCut {
  TileKernels const* kernels;
  std::int64_t workers;
  Blocks rows, columns, depth;  // of c's rows, of c's columns and of the summed dimension
  std::int64_t pass = 0;        // number of blocks of the depth that are taken at a time
  Factor a, b;
  // From scratch_offset on, the workspace has scratch of scratch_bytes for each block of c if sums
  // are kept, and otherwise for each worker. It holds sums, then panels of `a`, then panels of b.
  std::int64_t scratch_offset = 0, scratch_bytes = 0;

  // The elements of a row of `shape.c` must be neighbours in memory.
  TileCut(MatmulShape const& shape, bool a_zero_padded, TileKernels const& kernels,
          std::int64_t threads);

  std::int64_t blocks() const { return rows.count * columns.count; }
  bool keeps_sums() const { return pass < depth.count; }
  std::int64_t scratches() const { return keeps_sums() ? blocks() : workers; }
  std::int64_t sums_row() const { return sums_stride(columns.size); }
  std::int64_t panel_bytes() const { return kernels->panel_bytes(depth.size); }
  std::int64_t workspace_bytes() const { return scratch_offset + scratches() * scratch_bytes; }

  // Returns the number of bytes from f.offset to a panel that is packed ahead.
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
