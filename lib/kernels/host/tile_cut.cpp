#include "kernels/host/tile_cut.hpp"

#include <initializer_list>
#include <utility>

namespace spillway::host {
namespace {

// With these numbers of rows and columns, the sums of a block of c and its panels for one block of
// the depth fit a core's second-level cache, and a panel of `a` fits the first-level cache.
constexpr std::int64_t kBlockRows = 256, kBlockColumns = 512, kSmallestBlock = 128;
constexpr std::int64_t kLineBytes = 1152;      // limit for one row of `a` or column of b in a panel
constexpr std::int64_t kMostBytes = 16 << 20;  // limit for packed panels, or for kept sums of c
constexpr std::int64_t kMostAtOnce = 32;
constexpr std::int64_t kUnitsPerWorker = 3;  // several, so that a slow worker costs little

// Returns a Factor whose lines (TileSource::lines) are the rows of m.
Factor factor_of_rows(MatrixLayout const& m) {
  bool const along = m.column_stride == 1;
  return {.source = {.dtype = m.dtype,
                     .depth_contiguous = along,
                     .stride = along ? m.row_stride : m.column_stride,
                     .lines = m.rows,
                     .depth = m.columns}};
}

}  // namespace

TileCut::TileCut(MatmulShape const& shape, bool a_zero_padded, TileKernels const& tile_kernels,
                 std::int64_t threads)
    : kernels(&tile_kernels),
      workers(std::max<std::int64_t>(threads, 1)),
      depth(shape.a.columns,
            div_ceil(shape.a.columns, kLineBytes / tile_kernels.bytes_per_element)),
      a(factor_of_rows(shape.a)),
      b(factor_of_rows(shape.b.transposed())) {
  choose_supplies(shape, a_zero_padded);
  cut_blocks(shape);
  place();
}

void TileCut::choose_supplies(MatmulShape const& shape, bool a_zero_padded) {
  auto with_zeros = a.source;
  if (a_zero_padded) with_zeros.depth = padded_depth(with_zeros.depth);
  bool const in_place = kernels->reads_in_place(with_zeros);
  auto const panels = std::max(in_place ? 0 : a.panels(), b.panels());
  auto const fitting = kMostBytes / (panels * panel_bytes());  // in blocks of the depth
  // If `a` is read in place, a block of c that packs its own panels of b uses them for many rows.
  // Nothing is gained then by keeping sums in order to pack b ahead of all blocks.
  bool const may_keep =
      !in_place && shape.c.rows * shape.c.columns * size_bytes(DType::f32) <= kMostBytes;
  bool const ahead = fitting >= (may_keep ? 1 : depth.count);
  pass = ahead ? std::min(fitting, depth.count) : depth.count;
  for (auto* f : {&a, &b}) {
    auto const bytes = depth.count * f->panels() * panel_bytes();
    f->supply = ahead || bytes <= kMostBytes ? Supply::ahead : Supply::per_block;
    // A unit of work packs a contiguous factor through several blocks of the depth if there are
    // enough units for all workers.
    f->through = f->source.depth_contiguous && pass < depth.count &&
                 f->panels() >= kUnitsPerWorker * workers;
    auto const fair = pass * f->panels() / (kUnitsPerWorker * workers);
    if (!f->through) f->at_once = std::clamp<std::int64_t>(fair, 1, kMostAtOnce);
  }
  if (in_place) a.supply = Supply::in_place;
}

// If every block of c packs its own panels of `a`, blocks with the same rows repeat this work, so c
// is cut into few ranges of columns. If every block packs its own panels of b, c is cut into few
// ranges of rows.
void TileCut::cut_blocks(MatmulShape const& shape) {
  bool const a_again = a.supply == Supply::per_block, b_again = b.supply == Supply::per_block;
  auto down = div_ceil(shape.c.rows, b_again ? 4 * kBlockRows : kBlockRows);
  auto across = div_ceil(shape.c.columns, a_again ? 2 * kBlockColumns : kBlockColumns);
  auto const fits = [&] {
    rows = Blocks(shape.c.rows, down);
    columns = Blocks(shape.c.columns, across);
    return blocks() >= kUnitsPerWorker * workers &&
           rows.size * columns.size <= kBlockRows * kBlockColumns;
  };
  while (!fits()) {
    bool const cut_rows = a_again == b_again ? rows.size >= columns.size : a_again;
    if ((cut_rows ? rows : columns).size <= kSmallestBlock) break;
    ++(cut_rows ? down : across);
  }
}

// The workspace holds `a` packed ahead, then b packed ahead, then scratch of each block or worker.
void TileCut::place() {
  scratch_bytes = rows.size * sums_row() * size_bytes(DType::f32);
  for (auto const& [factor, lines] : {std::pair{&a, rows.size}, std::pair{&b, columns.size}}) {
    bool const ahead = factor->supply == Supply::ahead;
    factor->offset = ahead ? scratch_offset : scratch_bytes;
    if (ahead) scratch_offset += pass * factor->panels() * panel_bytes();
    if (factor->supply == Supply::per_block) scratch_bytes += panel_count(lines) * panel_bytes();
  }
}

}  // namespace spillway::host
