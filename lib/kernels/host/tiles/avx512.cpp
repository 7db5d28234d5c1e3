// Computes products with the vector registers of AVX-512, 8 rows x 32 columns of c at a time.
#include <immintrin.h>

#include <cstring>

#include "kernels/host/tiles/kinds.hpp"

namespace spillway::tiles {
namespace {

struct Bf16Step {  // each product has two neighbouring bf16 of each factor
  static constexpr std::int64_t depth_per_cell = 2;

  static __m512 add(__m512 sum, char const* a, __m512 b) {
    int cell;  // copied, because rows of bf16 that are read in place need not be aligned
    std::memcpy(&cell, a, sizeof cell);
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(_mm512_set1_epi32(cell)),
                            reinterpret_cast<__m512bh>(b));
  }
};
struct FloatStep {
  static constexpr std::int64_t depth_per_cell = 1;

  static __m512 add(__m512 sum, char const* a, __m512 b) {
    return _mm512_fmadd_ps(_mm512_set1_ps(*reinterpret_cast<float const*>(a)), b, sum);
  }
};

// Computes kRows x kPanel elements of c, from kRows rows of `a` and one panel of b.
template <class Step, int kRows>
void block(TileProduct const& p, char const* a, char const* b, float* c) {
  __m512 sum[kRows][2];
  for (int r = 0; r < kRows; ++r)
    for (int h = 0; h < 2; ++h)
      sum[r][h] = p.add ? _mm512_loadu_ps(c + r * p.c_stride + 16 * h) : _mm512_setzero_ps();
  auto const blocks = p.depth / (kCells * Step::depth_per_cell);
  RowSteps const step(p);
  for (std::int64_t n = 0; n < blocks; ++n, a += step.block_bytes, b += kBlockBytes) {
    for (int cell = 0; cell < kCells; ++cell) {
      auto const* const row = b + cell * 2 * kRowBytes;
      __m512 const left = _mm512_load_ps(row), right = _mm512_load_ps(row + kRowBytes);
      for (int r = 0; r < kRows; ++r) {
        auto const* const at = a + r * step.row_bytes + cell * kCellBytes;
        sum[r][0] = Step::add(sum[r][0], at, left);
        sum[r][1] = Step::add(sum[r][1], at, right);
      }
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int h = 0; h < 2; ++h) _mm512_storeu_ps(c + r * p.c_stride + 16 * h, sum[r][h]);
}

template <class Step>
void product(TileProduct const& p) {
  PanelSteps const step(p, kCells * Step::depth_per_cell);
  for (std::int64_t panel = 0; panel < p.b_panels; ++panel) {
    auto const* const b =
        static_cast<char const*>(p.b) + step.first_bytes + panel * step.panel_bytes;
    auto const* a = static_cast<char const*>(p.a);
    auto* c = p.c + panel * kPanel;
    std::int64_t row = 0;
    auto const advance = [&](std::int64_t rows) {
      row += rows;
      a += rows * RowSteps(p).row_bytes;
      c += rows * p.c_stride;
    };
    for (; row + 8 <= p.rows; advance(8)) block<Step, 8>(p, a, b, c);
    for (; row + 2 <= p.rows; advance(2)) block<Step, 2>(p, a, b, c);
    for (; row < p.rows; advance(1)) block<Step, 1>(p, a, b, c);
  }
}

constexpr TileKernels kernels_bf16{.name = "avx512-bf16",
                                   .bytes_per_element = 2,
                                   .pack_a = pack_a_bf16_avx512,
                                   .pack_b = pack_b_bf16_avx512,
                                   .product = product<Bf16Step>,
                                   .matrix_unit = false,
                                   .reads_rows = true};
constexpr TileKernels kernels_f32{.name = "avx512",
                                  .bytes_per_element = 4,
                                  .pack_a = pack_a_f32_avx512,
                                  .pack_b = pack_b_f32_avx512,
                                  .product = product<FloatStep>,
                                  .matrix_unit = false,
                                  .reads_rows = false};

}  // namespace

TileKernels const* avx512(DType dtype) {
  static bool const usable =
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bf16");
  if (!usable) return nullptr;
  return dtype == DType::bf16 ? &kernels_bf16 : &kernels_f32;
}

}  // namespace spillway::tiles
