#include "kernels/host/tile_matmul.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/bf16.hpp"
#include "base/check.hpp"
#include "kernels/host/deal.hpp"
#include "kernels/host/stream.hpp"
#include "kernels/host/tile_cut.hpp"

namespace spillway::host {
namespace {

Label const label_pack = "spillway::matmul pack";
Label const label = "spillway::matmul";

// Returns a shape whose c has contiguous rows: the given shape, or that of c^T = b^T a^T.
MatmulShape by_rows(MatmulShape const& given) {
  if (given.c.column_stride == 1) return given;
  check(!given.bias, "a product by columns", "it has a bias");
  auto shape = given;
  shape.a = given.b.transposed();
  shape.b = given.a.transposed();
  shape.c = given.c.transposed();
  return shape;
}

// Stores one row of c: the sums plus bias, addend and, if `add` is true, what c held, rounded once.
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
  // Logits and gradients are float and are read much later, so they are written past the caches.
  if constexpr (std::is_same_v<C, float>)
    if (!add) return stream_row(sums, out, n);
#pragma omp simd
  for (std::int64_t j = 0; j < n; ++j) out[j] = store<C>(sums[j]);
}

}  // namespace

struct TileMatmul::Bound {
  bool swapped;  // whether c^T is computed, as `by_rows` decides
  MatmulShape shape;
  MatrixLayout addend;  // what shape.addend points to
  TileCut cut;
  MatmulOperands operands = {};  // operands of the current run

  Bound(MatmulShape const& given, TileKernels const& kernels, std::int64_t threads);

  void run(Exec const& exec, MatmulOperands const& given);

 private:
  struct DepthRange {  // blocks [first, end) of the depth
    std::int64_t first, end;
  };
  struct Block {
    std::int64_t row_block, column_block;
    std::byte* scratch;
  };

  std::byte* in_workspace(std::int64_t bytes) const {
    return static_cast<std::byte*>(operands.workspace) + bytes;
  }
  std::byte* ahead(Factor const& f, std::int64_t depth_block, std::int64_t panel) const {
    return in_workspace(f.offset + cut.ahead_bytes(f, depth_block, panel));
  }
  TileSource part(Factor const& f, void const* data, std::int64_t line, std::int64_t lines,
                  std::int64_t depth_block) const;
  void pack_ahead(Exec const& exec, DepthRange pass) const;
  void pack_unit(DepthRange pass, std::int64_t unit) const;
  void make_block(DepthRange pass, std::int64_t worker, std::int64_t block) const;
  void add_depth_block(Block const& block, DepthRange pass, std::int64_t depth_block) const;
  void fetch_share(TileProduct& product, std::int64_t column_block, std::int64_t depth_block,
                   std::int64_t share, std::int64_t shares) const;
  void store_block(Block const& block) const;
  template <class T, class C>
  void store_rows(Block const& block) const;
};

TileMatmul::Bound::Bound(MatmulShape const& given, TileKernels const& kernels, std::int64_t threads)
    : swapped(given.c.column_stride != 1),
      shape(by_rows(given)),
      cut(shape, !swapped && given.a_zero_padded, kernels, threads) {
  if (given.addend) addend = swapped ? given.addend->transposed() : *given.addend;
  shape.addend = given.addend ? &addend : nullptr;
}

TileSource TileMatmul::Bound::part(Factor const& f, void const* data, std::int64_t line,
                                   std::int64_t lines, std::int64_t depth_block) const {
  auto source = f.source;
  auto const first = cut.depth.first(depth_block);
  auto const at =
      source.depth_contiguous ? line * source.stride + first : first * source.stride + line;
  source.data = static_cast<std::byte const*>(data) + at * size_bytes(source.dtype);
  source.lines = lines;
  source.depth = cut.depth.length(depth_block);
  return source;
}

void TileMatmul::Bound::pack_ahead(Exec const& exec, DepthRange pass) const {
  auto const units = cut.a.units(pass.end - pass.first) + cut.b.units(pass.end - pass.first);
  if (units > 0)
    for_each_unit(exec, label_pack, units,
                  [this, pass](std::int64_t unit) { pack_unit(pass, unit); });
}

void TileMatmul::Bound::pack_unit(DepthRange pass, std::int64_t unit) const {
  auto const of_a = cut.a.units(pass.end - pass.first);
  bool const is_a = unit < of_a;
  auto const& factor = is_a ? cut.a : cut.b;
  auto const* const data = is_a ? operands.a : operands.b;
  auto const at = is_a ? unit : unit - of_a;
  auto const panel = at % factor.groups() * factor.at_once;
  auto const lines = std::min(factor.at_once * kPanel, factor.source.lines - panel * kPanel);
  auto const pack = [&](std::int64_t depth_block) {
    (is_a ? cut.kernels->pack_a : cut.kernels->pack_b)(
        part(factor, data, panel * kPanel, lines, depth_block), ahead(factor, depth_block, panel));
  };
  if (!factor.through) return pack(pass.first + at / factor.groups());
  for (auto d = pass.first; d < pass.end; ++d) pack(d);
}

void TileMatmul::Bound::make_block(DepthRange pass, std::int64_t worker, std::int64_t i) const {
  // Successive blocks of c have the same columns, so the cores' shared cache keeps panels of b.
  Block const block{.row_block = i % cut.rows.count,
                    .column_block = i / cut.rows.count,
                    .scratch = in_workspace(cut.scratch_offset +
                                            (cut.keeps_sums() ? i : worker) * cut.scratch_bytes)};
  for (auto d = pass.first; d < pass.end; ++d) add_depth_block(block, pass, d);
  if (pass.end == cut.depth.count) store_block(block);
}

void TileMatmul::Bound::add_depth_block(Block const& block, DepthRange pass,
                                        std::int64_t depth_block) const {
  auto const &a = cut.a, &b = cut.b;
  auto const& kernels = *cut.kernels;
  auto const row = cut.rows.first(block.row_block), rows = cut.rows.length(block.row_block);
  auto const column = cut.columns.first(block.column_block);
  auto const columns = cut.columns.length(block.column_block);
  auto const depth = cut.depth.length(depth_block);
  if (a.supply == Supply::per_block)
    kernels.pack_a(part(a, operands.a, row, rows, depth_block), block.scratch + a.offset);
  if (b.supply == Supply::per_block)
    kernels.pack_b(part(b, operands.b, column, columns, depth_block), block.scratch + b.offset);

  bool const in_place = a.supply == Supply::in_place;
  TileProduct product{.a_row_bytes = in_place ? a.source.stride * size_bytes(DType::bf16) : 0,
                      .b = b.supply == Supply::ahead ? ahead(b, depth_block, column / kPanel)
                                                     : block.scratch + b.offset,
                      .c = reinterpret_cast<float*>(block.scratch),
                      .c_stride = cut.sums_row(),
                      .b_panels = panel_count(columns),
                      .depth = padded_depth(depth),
                      .add = depth_block > 0};
  auto const rows_of_a = [&](std::int64_t i) -> void const* {
    if (in_place) return part(a, operands.a, row + i, kPanel, depth_block).data;
    if (a.supply == Supply::ahead) return ahead(a, depth_block, (row + i) / kPanel);
    return block.scratch + a.offset + i / kPanel * kernels.panel_bytes(depth);
  };
  auto next_depth_block = depth_block + 1 < pass.end ? depth_block + 1 : pass.first;
  if (next_depth_block == depth_block) next_depth_block = -1;  // the panels are cached
  for (std::int64_t i = 0; i < rows; i += kPanel, product.c += kPanel * cut.sums_row()) {
    product.rows = std::min(kPanel, rows - i);
    product.a = rows_of_a(i);
    product.next_a = i + kPanel < rows ? rows_of_a(i + kPanel) : nullptr;
    fetch_share(product, block.column_block, next_depth_block, i / kPanel, panel_count(rows));
    kernels.product(product);
  }
}

// Each TileProduct of a block of c prefetches some of the panels of b that are read after the last
// of these products: panels for the next block of the depth, or for the next block of c, whose
// columns are mostly the same.
void TileMatmul::Bound::fetch_share(TileProduct& product, std::int64_t column_block,
                                    std::int64_t depth_block, std::int64_t share,
                                    std::int64_t shares) const {
  if (cut.b.supply != Supply::ahead || depth_block < 0) return;
  auto const bytes = product.b_panels * cut.kernels->panel_bytes(cut.depth.length(depth_block));
  product.next_b =
      ahead(cut.b, depth_block, cut.columns.first(column_block) / kPanel) + bytes * share / shares;
  product.next_b_bytes = div_ceil(bytes, shares);
}

void TileMatmul::Bound::store_block(Block const& block) const {
  if (shape.c.dtype == DType::bf16) return store_rows<bf16, bf16>(block);
  if (shape.a.dtype == DType::bf16) return store_rows<bf16, float>(block);
  store_rows<float, float>(block);
}

template <class T, class C>
void TileMatmul::Bound::store_rows(Block const& block) const {
  auto const column = cut.columns.first(block.column_block);
  auto const n = cut.columns.length(block.column_block);
  auto* sums = reinterpret_cast<float*>(block.scratch);
  for (std::int64_t i = 0; i < cut.rows.length(block.row_block); ++i, sums += cut.sums_row()) {
    auto const row = cut.rows.first(block.row_block) + i;
    auto const* const more =
        shape.addend ? static_cast<T const*>(operands.addend) + row * addend.row_stride + column
                     : nullptr;
    auto const* const bias = shape.bias ? static_cast<T const*>(operands.bias) + column : nullptr;
    store_row(sums, bias, more, shape.accumulate,
              static_cast<C*>(operands.c) + row * shape.c.row_stride + column, n);
  }
  finish_streams();
}

void TileMatmul::Bound::run(Exec const& exec, MatmulOperands const& given) {
  operands = given;
  if (swapped) std::swap(operands.a, operands.b);
  for (std::int64_t first = 0; first < cut.depth.count; first += cut.pass) {
    DepthRange const pass{first, std::min(first + cut.pass, cut.depth.count)};
    pack_ahead(exec, pass);
    deal_units(
        exec, label, cut.blocks(), cut.workers,
        [this, pass](std::int64_t worker, std::int64_t block) { make_block(pass, worker, block); });
  }
}

TileMatmul::TileMatmul(MatmulShape const& shape, TileKernels const& kernels, std::int64_t threads)
    : m_bound(std::make_unique<Bound>(shape, kernels, threads)) {}
TileMatmul::TileMatmul(TileMatmul&&) noexcept = default;
TileMatmul& TileMatmul::operator=(TileMatmul&&) noexcept = default;
TileMatmul::~TileMatmul() = default;

std::int64_t TileMatmul::workspace_bytes() const {
  return m_bound->cut.workspace_bytes();
}

std::string TileMatmul::implementation() const {
  return m_bound->cut.kernels->name;
}

void TileMatmul::operator()(Exec const& exec, MatmulOperands const& operands) const {
  m_bound->run(exec, operands);
}

}  // namespace spillway::host
