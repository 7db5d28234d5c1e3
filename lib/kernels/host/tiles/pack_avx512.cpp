// Packs 16 lines (rows of `a` or columns of b) by 16 cells of 4 bytes at a time. Cells are loaded
// as they lie in memory, and are transposed in registers if the panel needs the other order.
#include <immintrin.h>

#include "kernels/host/tiles/kinds.hpp"

namespace spillway::tiles {
namespace {

using Cells = __m512i[kCells];

// `lanes` and `lanes32` return masks of the first `count` SIMD lanes. With kWhole they mask out
// none, because the block is known to lie wholly in the source.
template <bool kWhole>
__mmask16 lanes(std::int64_t count) {
  if (kWhole || count >= 16) return 0xffffu;
  return static_cast<__mmask16>(count <= 0 ? 0u : (1u << count) - 1u);
}
template <bool kWhole>
__mmask32 lanes32(std::int64_t count) {
  if (kWhole || count >= 32) return 0xffffffffu;
  return count <= 0 ? 0u : (1u << count) - 1u;
}

// Takes two rows of 16 values of 16 bits, one row in each half of the register. Returns 16 pairs,
// each of a value of the first row and the value below it in the second.
__m512i interleaved(__m512i halves) {
  __m512i const order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, halves);
}

// A struct named ...Source loads 16 cells of 4 bytes into each out[part], with one part, or three
// if numbers are split. `along` loads 16 cells of one line, whose elements are neighbours in
// memory. `across` loads one cell of each of 16 lines. What lies beyond the source is 0.
template <bool kWhole>
struct Bf16Source {
  static constexpr int parts = 1, depth_per_cell = 2;

  static void along(TileSource const& s, std::int64_t line, std::int64_t depth, __m512i* out) {
    auto const* const row = static_cast<std::uint16_t const*>(s.data) + line * s.stride + depth;
    out[0] = _mm512_maskz_loadu_epi16(lanes32<kWhole>(s.depth - depth), row);
  }
  static void across(TileSource const& s, std::int64_t line, std::int64_t depth, __m512i* out) {
    auto const* const row = static_cast<std::uint16_t const*>(s.data) + depth * s.stride + line;
    auto const mask = lanes<kWhole>(s.lines - line);
    auto const first = kWhole || depth < s.depth ? mask : __mmask16{0};
    auto const second = kWhole || depth + 1 < s.depth ? mask : __mmask16{0};
    __m256i const low = _mm256_maskz_loadu_epi16(first, row);
    __m256i const high = _mm256_maskz_loadu_epi16(second, second ? row + s.stride : row);
    out[0] = interleaved(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
  }
};

template <bool kWhole>
struct FloatLoads {
  static __m512 along(TileSource const& s, std::int64_t line, std::int64_t depth) {
    auto const* const row = static_cast<float const*>(s.data) + line * s.stride;
    auto const mask = lanes<kWhole>(s.depth - depth);
    return _mm512_maskz_loadu_ps(mask, mask ? row + depth : row);
  }
  static __m512 across(TileSource const& s, std::int64_t line, std::int64_t depth) {
    auto const* const row = static_cast<float const*>(s.data) + line;
    auto const mask = kWhole || depth < s.depth ? lanes<kWhole>(s.lines - line) : __mmask16{0};
    return _mm512_maskz_loadu_ps(mask, mask ? row + depth * s.stride : row);
  }
};

template <bool kWhole>
struct RoundedSource {  // rounds f32 to bf16, ties to even
  static constexpr int parts = 1, depth_per_cell = 2;

  static void along(TileSource const& s, std::int64_t line, std::int64_t depth, __m512i* out) {
    __m512 const first = FloatLoads<kWhole>::along(s, line, depth);
    __m512 const second = FloatLoads<kWhole>::along(s, line, depth + 16);
    out[0] = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first));
  }
  static void across(TileSource const& s, std::int64_t line, std::int64_t depth, __m512i* out) {
    __m512 const first = FloatLoads<kWhole>::across(s, line, depth);
    __m512 const second = FloatLoads<kWhole>::across(s, line, depth + 1);
    out[0] = interleaved(reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first)));
  }
};

template <bool kWhole>
// Splits each f32 into a sum of three bf16. A bf16 is what those before it leave, rounded.
struct SplitSource {
  static constexpr int parts = 3, depth_per_cell = 2;

  // Rounds to bf16, ties away from zero. Numbers that would become infinite, infinities and NaNs
  // are truncated instead, so that a NaN cannot become a number.
  static __m512i upper(__m512 x) {
    __m512i const bits = _mm512_castps_si512(x);
    __m512i const size = _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff));
    __mmask16 const rounds = _mm512_cmplt_epu32_mask(size, _mm512_set1_epi32(0x7f7f8000));
    __m512i const rounded = _mm512_mask_add_epi32(bits, rounds, bits, _mm512_set1_epi32(0x8000));
    return _mm512_and_si512(rounded, _mm512_set1_epi32(static_cast<int>(0xffff0000u)));
  }
  static __m512 rest(__m512 x, __m512i part) { return _mm512_sub_ps(x, _mm512_castsi512_ps(part)); }
  static void along(TileSource const& s, std::int64_t line, std::int64_t depth, __m512i* out) {
    __m512i const upper_halves =
        _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27,
                         25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    __m512 first = FloatLoads<kWhole>::along(s, line, depth);
    __m512 second = FloatLoads<kWhole>::along(s, line, depth + 16);
    for (int part = 0; part < parts; ++part) {
      __m512i const a = upper(first), b = upper(second);
      out[part] = _mm512_permutex2var_epi16(a, upper_halves, b);
      first = rest(first, a);
      second = rest(second, b);
    }
  }
  static void across(TileSource const& s, std::int64_t line, std::int64_t depth, __m512i* out) {
    __m512 first = FloatLoads<kWhole>::across(s, line, depth);
    __m512 second = FloatLoads<kWhole>::across(s, line, depth + 1);
    for (int part = 0; part < parts; ++part) {
      __m512i const a = upper(first), b = upper(second);
      out[part] = _mm512_or_si512(_mm512_srli_epi32(a, 16), b);
      first = rest(first, a);
      second = rest(second, b);
    }
  }
};

template <bool kWhole>
struct FloatSource {
  static constexpr int parts = 1, depth_per_cell = 1;

  static void along(TileSource const& s, std::int64_t line, std::int64_t depth, __m512i* out) {
    out[0] = _mm512_castps_si512(FloatLoads<kWhole>::along(s, line, depth));
  }
  static void across(TileSource const& s, std::int64_t line, std::int64_t depth, __m512i* out) {
    out[0] = _mm512_castps_si512(FloatLoads<kWhole>::across(s, line, depth));
  }
};

// Transposes 16 x 16 elements of 32 bits: exchanges element j of r[i] and element i of r[j].
void transpose(Cells& r) {
  Cells t;
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 16; j += 8) {
      t[j + i] = _mm512_shuffle_i32x4(r[j + i], r[j + i + 4], 0x88);
      t[j + i + 4] = _mm512_shuffle_i32x4(r[j + i], r[j + i + 4], 0xdd);
    }
  }
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
  }
}

// Loads 16 cells of each of 16 lines, transposes them if need be, and writes them to a panel.
template <class Source, bool by_line, bool kAlong>
void move(TileSource const& s, std::int64_t line, std::int64_t depth, char* out,
          std::int64_t part_bytes) {
  Cells cells[Source::parts];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    __m512i part[Source::parts] = {};
    if (!kAlong) {
      Source::across(s, line, depth + i * Source::depth_per_cell, part);
    } else if (line + i < s.lines) {
      Source::along(s, line + i, depth, part);
    }
    for (int p = 0; p < Source::parts; ++p) cells[p][i] = part[p];
  }
  for (int p = 0; p < Source::parts; ++p) {
    if (kAlong != by_line) transpose(cells[p]);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
      _mm512_store_si512(out + p * part_bytes + i * (by_line ? 64 : 128), cells[p][i]);
  }
}

// If `by_line` is true, the cells of a line are neighbours in a panel, as for `a`; otherwise equal
// cells of successive lines are, as for b. kAlong says whether a line is contiguous in the source.
template <template <bool> class Source, bool by_line, bool kAlong>
void pack_lying(TileSource const& s, char* panels) {
  constexpr std::int64_t depth_per_block = kCells * Source<true>::depth_per_cell;
  constexpr std::int64_t half_bytes = by_line ? kBlockBytes / 2 : kBlockBytes / 32;
  auto const blocks = padded_depth(s.depth) / depth_per_block;
  auto const part_bytes = blocks * kBlockBytes;
  auto const panel_bytes = Source<true>::parts * part_bytes;
  auto const pack_block = [&](std::int64_t line, std::int64_t block) {
    auto const depth = block * depth_per_block;
    auto* const out = panels + line / kPanel * panel_bytes + block * kBlockBytes;
    bool const whole = line + kPanel <= s.lines && depth + depth_per_block <= s.depth;
    auto const one =
        whole ? move<Source<true>, by_line, kAlong> : move<Source<false>, by_line, kAlong>;
    one(s, line, depth, out, part_bytes);
    one(s, line + kPanel / 2, depth, out + half_bytes, part_bytes);
  };
  // The source is read in the order of its memory as far as possible.
  auto const outer_end = kAlong ? s.lines : blocks, outer_step = kAlong ? kPanel : 1;
  auto const inner_end = kAlong ? blocks : s.lines, inner_step = kAlong ? 1 : kPanel;
  for (std::int64_t outer = 0; outer < outer_end; outer += outer_step) {
    for (std::int64_t inner = 0; inner < inner_end; inner += inner_step)
      kAlong ? pack_block(outer, inner) : pack_block(inner, outer);
  }
}

template <template <bool> class Source, bool by_line>
void pack(TileSource const& s, void* panels) {
  auto* const first = static_cast<char*>(panels);
  s.depth_contiguous ? pack_lying<Source, by_line, true>(s, first)
                     : pack_lying<Source, by_line, false>(s, first);
}

}  // namespace

void pack_a_bf16_avx512(TileSource const& source, void* panels) {
  source.dtype == DType::bf16 ? pack<Bf16Source, true>(source, panels)
                              : pack<RoundedSource, true>(source, panels);
}
void pack_b_bf16_avx512(TileSource const& source, void* panels) {
  source.dtype == DType::bf16 ? pack<Bf16Source, false>(source, panels)
                              : pack<RoundedSource, false>(source, panels);
}
void pack_a_split_avx512(TileSource const& source, void* panels) {
  pack<SplitSource, true>(source, panels);
}
void pack_b_split_avx512(TileSource const& source, void* panels) {
  pack<SplitSource, false>(source, panels);
}
void pack_a_f32_avx512(TileSource const& source, void* panels) {
  pack<FloatSource, true>(source, panels);
}
void pack_b_f32_avx512(TileSource const& source, void* panels) {
  pack<FloatSource, false>(source, panels);
}

}  // namespace spillway::tiles
