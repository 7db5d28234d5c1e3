#include "kernels/tile_matmul.hpp"

#include <algorithm>
#include <cassert>

#include "base/bf16.hpp"
#include "base/math.hpp"
#include "kernels/launch.hpp"

namespace spillway {
namespace {

Label const label_pack = "spillway::matmul pack";
Label const label = "spillway::matmul";

// A block's sums, its panels of b and a panel of a fit a core's second cache.
constexpr std::int64_t kBlock = 512, kSmallestBlock = 128;
constexpr std::int64_t kLineBytes = 2048;           // of a line in a panel
constexpr std::int64_t kMostAheadBytes = 16 << 20;  // of a packed factor
constexpr std::int64_t kBlocksPerWorker = 3;        // so that a late worker costs little

// [0, extent) in `count` pieces of `size`, of which the last may be shorter.
struct Blocks {
  std::int64_t extent = 0, size = 1, count = 0;

  Blocks() = default;
  Blocks(std::int64_t all, std::int64_t pieces)
      : extent(all),
        size(round_up(div_ceil(all, pieces), kPanel)),
        count(div_ceil(all, size)) {}
  std::int64_t first(std::int64_t i) const { return i * size; }
  std::int64_t length(std::int64_t i) const { return std::min(size, extent - i * size); }
};

// Panels are read where the rows are, packed once for all, or, where that would take too much
// memory, by each block of c for itself.
enum class Supply : std::uint8_t { in_place, ahead, per_block };

struct Factor {
  TileSource source;  // its data is set by a run
  Supply supply = Supply::per_block;
  std::int64_t offset = 0;  // bytes: in the workspace (ahead) or in a worker's scratch (per_block)

  std::int64_t panels() const { return panel_count(source.lines); }
};

Factor factor_of_rows(MatrixLayout const& m) {  // lines are the rows
  bool const along = m.column_stride == 1;
  return {.source = {.dtype = m.dtype,
                     .depth_contiguous = along,
                     .stride = along ? m.row_stride : m.column_stride,
                     .lines = m.rows,
                     .depth = m.columns}};
}

// Rows of a result, to which bias, addend and what c held are added before the one rounding.
template <class T, class C>
void store_row(float* __restrict__ sums, T const* bias, T const* addend, bool add, C* out,
               std::int64_t n) {
  if (bias)
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) sums[j] += to_float(bias[j]);
  if (addend)
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) sums[j] += to_float(addend[j]);
  if (add)
#pragma omp simd
    for (std::int64_t j = 0; j < n; ++j) sums[j] += to_float(out[j]);
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) out[j] = store<C>(sums[j]);
}

}  // namespace

struct TileMatmul::Bound {
  MatmulShape shape;
  MatrixLayout addend;   // what shape.addend points to
  bool swapped = false;  // c^T = b^T a^T is computed: rows of the result are contiguous
  TileKernels const* kernels;
  std::int64_t workers;
  Blocks rows, columns, depth;
  Factor a, b;
  std::int64_t scratch_offset = 0, scratch_bytes = 0;  // of worker 0; of each
  MatmulOperands operands = {};                        // of the run

  Bound(MatmulShape const& given, TileKernels const& tile_kernels, std::int64_t threads);

  std::int64_t blocks() const { return rows.count * columns.count; }
  std::int64_t stride() const { return sums_stride(columns.size); }
  std::int64_t panel_bytes() const { return kernels->panel_bytes(depth.size); }
  std::int64_t ahead_panels(Factor const& f) const {
    return f.supply == Supply::ahead ? depth.count * f.panels() : 0;
  }
  void pack_ahead(std::int64_t item) const;
  void make_block(std::int64_t worker, std::int64_t block) const;

 private:
  void cut();
  Supply supply(Factor const& f) const;
  void place();

  std::byte* in_workspace(std::int64_t bytes) const {
    return static_cast<std::byte*>(operands.workspace) + bytes;
  }
  std::byte* ahead(Factor const& f, std::int64_t depth_block, std::int64_t panel) const {
    auto const blocks_before = depth_block * f.panels() * panel_bytes();
    auto const panels_before = panel * kernels->panel_bytes(depth.length(depth_block));
    return in_workspace(f.offset + blocks_before + panels_before);
  }
  TileSource part(Factor const& f, void const* data, std::int64_t line, std::int64_t lines,
                  std::int64_t depth_block) const;
  void add_depth_block(std::byte* scratch, std::int64_t row_block, std::int64_t column_block,
                       std::int64_t depth_block) const;
  void store_block(float* sums, std::int64_t row_block, std::int64_t column_block) const;
  template <class T, class C>
  void store_rows(float* sums, std::int64_t row_block, std::int64_t column_block) const;
};

TileMatmul::Bound::Bound(MatmulShape const& given, TileKernels const& tile_kernels,
                         std::int64_t threads)
    : shape(given), kernels(&tile_kernels), workers(std::max<std::int64_t>(threads, 1)) {
  swapped = given.c.column_stride != 1;
  assert(!swapped || !given.bias);
  if (swapped) {
    shape.a = given.b.transposed();
    shape.b = given.a.transposed();
    shape.c = given.c.transposed();
  }
  if (given.addend) addend = swapped ? given.addend->transposed() : *given.addend;
  shape.addend = given.addend ? &addend : nullptr;
  a = factor_of_rows(shape.a);
  b = factor_of_rows(shape.b.transposed());
  depth = Blocks(shape.a.columns,
                 div_ceil(shape.a.columns, kLineBytes / kernels->bytes_per_element));
  auto with_zeros = a.source;
  if (!swapped && shape.a_zero_padded) with_zeros.depth = padded_depth(with_zeros.depth);
  a.supply = kernels->reads_in_place(with_zeros) ? Supply::in_place : supply(a);
  b.supply = supply(b);
  cut();
  place();
}

// A factor that blocks pack for themselves is packed again for every block along the other side:
// there, few blocks.
void TileMatmul::Bound::cut() {
  bool const a_again = a.supply == Supply::per_block, b_again = b.supply == Supply::per_block;
  auto const wide = [](std::int64_t extent, bool again) {
    return div_ceil(extent, again ? 2 * kBlock : kBlock);
  };
  auto down = wide(shape.c.rows, b_again), across = wide(shape.c.columns, a_again);
  auto const fits = [&] {
    rows = Blocks(shape.c.rows, down);
    columns = Blocks(shape.c.columns, across);
    return blocks() >= kBlocksPerWorker * workers &&
           rows.size * columns.size <= kBlock * kBlock;
  };
  while (!fits()) {
    bool const cut_rows = a_again == b_again ? rows.size >= columns.size : a_again;
    if ((cut_rows ? rows : columns).size <= kSmallestBlock) break;
    ++(cut_rows ? down : across);
  }
}

Supply TileMatmul::Bound::supply(Factor const& f) const {
  auto const bytes = depth.count * f.panels() * panel_bytes();
  return bytes <= kMostAheadBytes ? Supply::ahead : Supply::per_block;
}

// [a ahead | b ahead | for each worker: sums | a's panels | b's panels]
void TileMatmul::Bound::place() {
  scratch_bytes = rows.size * stride() * size_bytes(DType::f32);
  for (auto const& [factor, lines] : {std::pair{&a, rows.size}, std::pair{&b, columns.size}}) {
    factor->offset = factor->supply == Supply::ahead ? scratch_offset : scratch_bytes;
    scratch_offset += ahead_panels(*factor) * panel_bytes();
    if (factor->supply == Supply::per_block)
      scratch_bytes += panel_count(lines) * panel_bytes();
  }
}

TileSource TileMatmul::Bound::part(Factor const& f, void const* data, std::int64_t line,
                                   std::int64_t lines, std::int64_t depth_block) const {
  auto source = f.source;
  auto const first = depth.first(depth_block);
  auto const at = source.depth_contiguous ? line * source.stride + first
                                          : first * source.stride + line;
  source.data = static_cast<std::byte const*>(data) + at * size_bytes(source.dtype);
  source.lines = lines;
  source.depth = depth.length(depth_block);
  return source;
}

void TileMatmul::Bound::pack_ahead(std::int64_t item) const {
  auto const of_a = ahead_panels(a);
  bool const is_a = item < of_a;
  auto const& factor = is_a ? a : b;
  auto const at = is_a ? item : item - of_a;
  auto const depth_block = at / factor.panels(), panel = at % factor.panels();
  auto const lines = std::min(kPanel, factor.source.lines - panel * kPanel);
  auto const source =
      part(factor, is_a ? operands.a : operands.b, panel * kPanel, lines, depth_block);
  (is_a ? kernels->pack_a : kernels->pack_b)(source, ahead(factor, depth_block, panel));
}

void TileMatmul::Bound::make_block(std::int64_t worker, std::int64_t block) const {
  auto* const scratch = in_workspace(scratch_offset + worker * scratch_bytes);
  // Neighbours in time share columns: panels of b stay in a cache that cores share.
  auto const row_block = block % rows.count, column_block = block / rows.count;
  for (std::int64_t d = 0; d < depth.count; ++d)
    add_depth_block(scratch, row_block, column_block, d);
  store_block(reinterpret_cast<float*>(scratch), row_block, column_block);
}

void TileMatmul::Bound::add_depth_block(std::byte* scratch, std::int64_t row_block,
                                        std::int64_t column_block,
                                        std::int64_t depth_block) const {
  auto const row = rows.first(row_block), rows_here = rows.length(row_block);
  auto const column = columns.first(column_block), columns_here = columns.length(column_block);
  auto const depth_here = depth.length(depth_block);
  if (a.supply == Supply::per_block)
    kernels->pack_a(part(a, operands.a, row, rows_here, depth_block), scratch + a.offset);
  if (b.supply == Supply::per_block)
    kernels->pack_b(part(b, operands.b, column, columns_here, depth_block), scratch + b.offset);

  bool const in_place = a.supply == Supply::in_place;
  TileProduct product{.a_row_bytes = in_place ? a.source.stride * size_bytes(DType::bf16) : 0,
                      .b = b.supply == Supply::ahead ? ahead(b, depth_block, column / kPanel)
                                                     : scratch + b.offset,
                      .c = reinterpret_cast<float*>(scratch),
                      .c_stride = stride(),
                      .b_panels = panel_count(columns_here),
                      .depth = padded_depth(depth_here),
                      .add = depth_block > 0};
  auto const rows_of_a = [&](std::int64_t i) -> void const* {
    if (in_place) return part(a, operands.a, row + i, kPanel, depth_block).data;
    if (a.supply == Supply::ahead) return ahead(a, depth_block, (row + i) / kPanel);
    return scratch + a.offset + i / kPanel * kernels->panel_bytes(depth_here);
  };
  for (std::int64_t i = 0; i < rows_here; i += kPanel, product.c += kPanel * stride()) {
    product.rows = std::min(kPanel, rows_here - i);
    product.a = rows_of_a(i);
    product.next_a = i + kPanel < rows_here ? rows_of_a(i + kPanel) : nullptr;
    kernels->product(product);
  }
}

void TileMatmul::Bound::store_block(float* sums, std::int64_t row_block,
                                    std::int64_t column_block) const {
  if (shape.c.dtype == DType::bf16) return store_rows<bf16, bf16>(sums, row_block, column_block);
  if (shape.a.dtype == DType::bf16) return store_rows<bf16, float>(sums, row_block, column_block);
  store_rows<float, float>(sums, row_block, column_block);
}

template <class T, class C>
void TileMatmul::Bound::store_rows(float* sums, std::int64_t row_block,
                                   std::int64_t column_block) const {
  auto const column = columns.first(column_block), n = columns.length(column_block);
  for (std::int64_t i = 0; i < rows.length(row_block); ++i) {
    auto const row = rows.first(row_block) + i;
    auto const* const more =
        shape.addend ? static_cast<T const*>(operands.addend) + row * addend.row_stride + column
                     : nullptr;
    auto const* const bias = shape.bias ? static_cast<T const*>(operands.bias) + column : nullptr;
    store_row(sums + i * stride(), bias, more, shape.accumulate,
              static_cast<C*>(operands.c) + row * shape.c.row_stride + column, n);
  }
}

TileMatmul::TileMatmul(MatmulShape const& shape, TileKernels const& kernels, std::int64_t threads)
    : m_bound(std::make_unique<Bound>(shape, kernels, threads)) {}
TileMatmul::TileMatmul(TileMatmul&&) noexcept = default;
TileMatmul& TileMatmul::operator=(TileMatmul&&) noexcept = default;
TileMatmul::~TileMatmul() = default;

std::int64_t TileMatmul::workspace_bytes() const {
  return m_bound->scratch_offset + m_bound->workers * m_bound->scratch_bytes;
}

std::string TileMatmul::implementation() const {
  return m_bound->kernels->name;
}

void TileMatmul::operator()(Exec const& exec, MatmulOperands const& operands) const {
  auto* const m = m_bound.get();
  m->operands = operands;
  if (m->swapped) std::swap(m->operands.a, m->operands.b);
  if (auto const panels = m->ahead_panels(m->a) + m->ahead_panels(m->b); panels > 0)
    for_each_item(exec, label_pack, panels, [m](std::int64_t item) { m->pack_ahead(item); });
  deal_items(exec, label, m->blocks(), m->workers,
             [m](std::int64_t worker, std::int64_t block) { m->make_block(worker, block); });
}

}  // namespace spillway
