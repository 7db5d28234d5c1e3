// The same panels and products as plain loops, for processors without the instructions: the
// compiler makes vectors of the columns.
#include <bit>
#include <cmath>

#include "base/bf16.hpp"
#include "kernels/tiles/kinds.hpp"

namespace spillway::tiles {
namespace {

template <class T>
float element(TileSource const& s, std::int64_t line, std::int64_t depth) {
  if (line >= s.lines || depth >= s.depth) return 0;
  auto const at = s.depth_contiguous ? line * s.stride + depth : depth * s.stride + line;
  return to_float(static_cast<T const*>(s.data)[at]);
}

// Cell (line, cell) of a block; `by_line`: a's form, else b's.
template <class From, class To, bool by_line>
void pack(TileSource const& s, void* panels) {
  constexpr std::int64_t per_cell = kCellBytes / sizeof(To);
  auto* out = static_cast<To*>(panels);
  auto const cells = padded_depth(s.depth) / per_cell;
  for (std::int64_t first = 0; first < s.lines; first += kPanel)
    for (std::int64_t block = 0; block < cells; block += kCells)
      for (std::int64_t i = 0; i < kPanel * kCells; ++i) {
        auto const line = first + (by_line ? i / kCells : i % kPanel);
        auto const cell = block + (by_line ? i % kCells : i / kPanel);
        for (std::int64_t d = 0; d < per_cell; ++d)
          *out++ = store<To>(element<From>(s, line, cell * per_cell + d));
      }
}

template <class To, bool by_line>
void pack(TileSource const& s, void* panels) {
  s.dtype == DType::bf16 ? pack<bf16, To, by_line>(s, panels)
                         : pack<float, To, by_line>(s, panels);
}

// sum[0:32] += a's cell times b's 32 cells.
struct Bf16Cells {
  static constexpr std::int64_t depth_per_cell = 2;

  static void add(float* __restrict__ sum, void const* a, void const* b) {
    auto const* const left = static_cast<bf16 const*>(a);
    auto const* const cells = static_cast<std::uint32_t const*>(b);
    float const even = to_float(left[0]), odd = to_float(left[1]);
#pragma omp simd
    for (int l = 0; l < kPanel; ++l) {
      float const first = std::bit_cast<float>(cells[l] << 16);
      float const second = std::bit_cast<float>(cells[l] & 0xffff0000u);
      sum[l] = std::fma(odd, second, std::fma(even, first, sum[l]));
    }
  }
};
struct FloatCells {
  static constexpr std::int64_t depth_per_cell = 1;

  static void add(float* __restrict__ sum, void const* a, void const* b) {
    float const left = *static_cast<float const*>(a);
    auto const* const right = static_cast<float const*>(b);
#pragma omp simd
    for (int l = 0; l < kPanel; ++l) sum[l] = std::fma(left, right[l], sum[l]);
  }
};

template <class Cells>
void product(TileProduct const& p) {
  auto const blocks = p.depth / (kCells * Cells::depth_per_cell);
  RowSteps const step(p);
  PanelSteps const b_step(p, kCells * Cells::depth_per_cell);
  for (std::int64_t panel = 0; panel < p.b_panels; ++panel)
    for (std::int64_t row = 0; row < p.rows; ++row) {
      auto const* a = static_cast<char const*>(p.a) + row * step.row_bytes;
      auto const* b =
          static_cast<char const*>(p.b) + b_step.first_bytes + panel * b_step.panel_bytes;
      auto* const c = p.c + row * p.c_stride + panel * kPanel;
      float sum[kPanel];
      for (int l = 0; l < kPanel; ++l) sum[l] = p.add ? c[l] : 0.0f;
      for (std::int64_t n = 0; n < blocks; ++n, a += step.block_bytes, b += kBlockBytes)
        for (std::int64_t cell = 0; cell < kCells; ++cell)
          Cells::add(sum, a + cell * kCellBytes, b + cell * kPanel * kCellBytes);
      for (int l = 0; l < kPanel; ++l) c[l] = sum[l];
    }
}

constexpr TileKernels kernels_bf16{.name = "portable",
                                   .bytes_per_element = 2,
                                   .pack_a = pack<bf16, true>,
                                   .pack_b = pack<bf16, false>,
                                   .product = product<Bf16Cells>,
                                   .matrix_unit = false,
                                   .reads_rows = true};
constexpr TileKernels kernels_f32{.name = "portable",
                                  .bytes_per_element = 4,
                                  .pack_a = pack<float, true>,
                                  .pack_b = pack<float, false>,
                                  .product = product<FloatCells>,
                                  .matrix_unit = false,
                                  .reads_rows = false};

}  // namespace

TileKernels const& portable(DType dtype) {
  return dtype == DType::bf16 ? kernels_bf16 : kernels_f32;
}

}  // namespace spillway::tiles
