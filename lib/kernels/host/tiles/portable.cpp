// Packs panels and computes products with plain loops, for processors without the instructions of
// AMX or AVX-512, and for runs that ask for portable bits. Panels have the form that kinds.hpp
// describes. The compiler vectorises over columns.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bf16.hpp"
#include "kernels/host/tiles/kinds.hpp"

namespace spillway::tiles {
namespace {

// Returns the index of element [line, depth] within a block of a panel, in the form of the left
// factor if `by_line` is true, and of the right one otherwise.
template <class To, bool by_line>
std::int64_t place(std::int64_t line, std::int64_t depth) {
  constexpr std::int64_t per_cell = kCellBytes / sizeof(To);
  return by_line ? line * kCells * per_cell + depth
                 : (depth / per_cell * kPanel + line) * per_cell + depth % per_cell;
}

// Packs one block of a panel. The source has `lines` more lines with `depths` more elements each;
// the rest of the block becomes 0.
template <class From, class To, bool by_line>
void pack_block(From const* from, TileSource const& s, std::int64_t lines, std::int64_t depths,
                To* __restrict__ out) {
  constexpr std::int64_t all_depths = kRowBytes / sizeof(To);
  lines = std::min(lines, kPanel);
  depths = std::min(depths, all_depths);
  if (lines < kPanel || depths < all_depths) std::fill_n(out, kPanel * all_depths, To{});
  auto const put = [&](std::int64_t line, std::int64_t depth, From x) {
    out[place<To, by_line>(line, depth)] = store<To>(to_float(x));
  };
  if (!s.depth_contiguous) {
    for (std::int64_t depth = 0; depth < depths; ++depth)
      for (std::int64_t line = 0; line < lines; ++line)
        put(line, depth, from[depth * s.stride + line]);
  } else if (by_line) {
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t depth = 0; depth < depths; ++depth)
        put(line, depth, from[line * s.stride + depth]);
  } else {
    for (std::int64_t depth = 0; depth < depths; ++depth)
      for (std::int64_t line = 0; line < lines; ++line)
        put(line, depth, from[line * s.stride + depth]);
  }
}

template <class From, class To, bool by_line>
void pack(TileSource const& s, void* panels) {
  constexpr std::int64_t depths = kRowBytes / sizeof(To);
  auto* out = static_cast<To*>(panels);
  auto const* const data = static_cast<From const*>(s.data);
  for (std::int64_t line = 0; line < s.lines; line += kPanel)
    for (std::int64_t depth = 0; depth < padded_depth(s.depth); depth += depths) {
      auto const at = s.depth_contiguous ? line * s.stride + depth : depth * s.stride + line;
      // For f32, kTileDepth depths make two blocks, and the second may lie beyond the source.
      auto const left = std::max<std::int64_t>(s.depth - depth, 0);
      pack_block<From, To, by_line>(left > 0 ? data + at : data, s, s.lines - line, left, out);
      out += kPanel * depths;
    }
}

template <class To, bool by_line>
void pack(TileSource const& s, void* panels) {
  s.dtype == DType::bf16 ? pack<bf16, To, by_line>(s, panels) : pack<float, To, by_line>(s, panels);
}

// The function `add` of Bf16Cells and FloatCells adds to each sum[r][l] the product of 4 bytes of
// row r of `a` and 4 bytes of column l of b, which are two bf16 or one float.
struct Bf16Cells {
  static constexpr std::int64_t depth_per_cell = 2;

  template <int kRows>
  static void add(float (&sum)[kRows][kPanel], char const* a, std::int64_t row_bytes,
                  char const* b) {
    auto const* const cells = reinterpret_cast<std::uint32_t const*>(b);
    float first[kPanel], second[kPanel];
#pragma omp simd
    for (int l = 0; l < kPanel; ++l) {
      first[l] = std::bit_cast<float>(cells[l] << 16);
      second[l] = std::bit_cast<float>(cells[l] & 0xffff0000u);
    }
    for (int r = 0; r < kRows; ++r) {
      auto const* const left = reinterpret_cast<bf16 const*>(a + r * row_bytes);
      float const even = to_float(left[0]), odd = to_float(left[1]);
#pragma omp simd
      for (int l = 0; l < kPanel; ++l)
        sum[r][l] = std::fma(odd, second[l], std::fma(even, first[l], sum[r][l]));
    }
  }
};
struct FloatCells {
  static constexpr std::int64_t depth_per_cell = 1;

  template <int kRows>
  static void add(float (&sum)[kRows][kPanel], char const* a, std::int64_t row_bytes,
                  char const* b) {
    auto const* const right = reinterpret_cast<float const*>(b);
    for (int r = 0; r < kRows; ++r) {
      float const left = *reinterpret_cast<float const*>(a + r * row_bytes);
#pragma omp simd
      for (int l = 0; l < kPanel; ++l) sum[r][l] = std::fma(left, right[l], sum[r][l]);
    }
  }
};

// Computes kRows x kPanel elements of c, from kRows rows of `a` and one panel of b. The sums are
// kept in registers.
template <class Cells, int kRows>
void block(TileProduct const& p, char const* a, char const* b, float* c) {
  float sum[kRows][kPanel];
  for (int r = 0; r < kRows; ++r)
#pragma omp simd
    for (int l = 0; l < kPanel; ++l) sum[r][l] = p.add ? c[r * p.c_stride + l] : 0.0f;
  RowSteps const step(p);
  for (std::int64_t depth = 0; depth < p.depth; depth += kCells * Cells::depth_per_cell) {
    for (std::int64_t cell = 0; cell < kCells; ++cell)
      Cells::template add<kRows>(sum, a + cell * kCellBytes, step.row_bytes,
                                 b + cell * kPanel * kCellBytes);
    a += step.block_bytes;
    b += kBlockBytes;
  }
  for (int r = 0; r < kRows; ++r)
#pragma omp simd
    for (int l = 0; l < kPanel; ++l) c[r * p.c_stride + l] = sum[r][l];
}

template <class Cells>
void product(TileProduct const& p) {
  constexpr int kRows = 4;
  RowSteps const step(p);
  PanelSteps const b_step(p, kCells * Cells::depth_per_cell);
  for (std::int64_t panel = 0; panel < p.b_panels; ++panel) {
    auto const* const b =
        static_cast<char const*>(p.b) + b_step.first_bytes + panel * b_step.panel_bytes;
    auto const* const a = static_cast<char const*>(p.a);
    auto* const c = p.c + panel * kPanel;
    std::int64_t row = 0;
    for (; row + kRows <= p.rows; row += kRows)
      block<Cells, kRows>(p, a + row * step.row_bytes, b, c + row * p.c_stride);
    for (; row < p.rows; ++row)
      block<Cells, 1>(p, a + row * step.row_bytes, b, c + row * p.c_stride);
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
