// Computes products with AMX. It has eight tile registers, four of which hold a 32 x 32 block of c.
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "kernels/host/tiles/kinds.hpp"

namespace spillway::tiles {
namespace {

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// A Tiles object keeps AMX's tile registers configured. Registers 0 to 3 hold the quarters of a 32
// x 32 block of c, 4 and 5 the upper and lower rows of `a`, 6 and 7 the left and right columns of
// b.
class Tiles {
 public:
  explicit Tiles(std::int64_t rows) {
    TileConfig config;
    auto const upper = static_cast<std::uint8_t>(rows < 16 ? rows : 16);
    auto const lower = static_cast<std::uint8_t>(rows - upper);
    std::uint8_t const of[8] = {upper, upper, lower, lower, upper, lower, 16, 16};
    for (int i = 0; i < 8; ++i) {
      config.rows[i] = of[i];
      config.row_bytes[i] = of[i] > 0 ? kRowBytes : 0;
    }
    // GCC 12 takes _tile_loadconfig to read only 8 bytes. Without the asm statement the rest of
    // `config` may stay unwritten.
    asm volatile("" : : "r"(&config) : "memory");
    _tile_loadconfig(&config);
  }
  ~Tiles() { _tile_release(); }
  Tiles(Tiles const&) = delete;
  Tiles& operator=(Tiles const&) = delete;
};

template <bool kLower>
void load_sums(float const* c, std::int64_t stride_bytes) {
  _tile_loadd(0, c, stride_bytes);
  _tile_loadd(1, c + 16, stride_bytes);
  if constexpr (kLower) {
    auto const* const below = c + 16 * (stride_bytes / 4);
    _tile_loadd(2, below, stride_bytes);
    _tile_loadd(3, below + 16, stride_bytes);
  }
}

template <bool kLower>
void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kLower) {
    _tile_zero(2);
    _tile_zero(3);
  }
}

template <bool kLower>
void store_sums(float* c, std::int64_t stride_bytes) {
  _tile_stored(0, c, stride_bytes);
  _tile_stored(1, c + 16, stride_bytes);
  if constexpr (kLower) {
    auto* const below = c + 16 * (stride_bytes / 4);
    _tile_stored(2, below, stride_bytes);
    _tile_stored(3, below + 16, stride_bytes);
  }
}

// Stores the block of c in the registers and loads or clears the next one. A store blocks the
// matrix unit and a load does not, so each register is loaded right after it is stored.
template <bool kLower>
void switch_sums(float* c, float* next, bool add, std::int64_t stride_bytes) {
  if (!add) {
    store_sums<kLower>(c, stride_bytes);
    return clear_sums<kLower>();
  }
  _tile_stored(0, c, stride_bytes);
  _tile_loadd(0, next, stride_bytes);
  _tile_stored(1, c + 16, stride_bytes);
  _tile_loadd(1, next + 16, stride_bytes);
  if constexpr (kLower) {
    auto const lower = 16 * (stride_bytes / 4);
    _tile_stored(2, c + lower, stride_bytes);
    _tile_loadd(2, next + lower, stride_bytes);
    _tile_stored(3, c + lower + 16, stride_bytes);
    _tile_loadd(3, next + lower + 16, stride_bytes);
  }
}

// Every number of `a` and b is the sum of kParts bf16, the largest first. A Parts names one bf16 of
// a number of `a` and one of b by their indices. Their product matters if the sum of these indices
// is less than kParts. The order of the products is such that few registers are loaded twice.
struct Parts {
  int a, b;
};
template <int kParts>
constexpr auto products_of_parts() {
  if constexpr (kParts == 1)
    return std::array{Parts{0, 0}};
  else
    return std::array{Parts{2, 0}, Parts{0, 0}, Parts{1, 0}, Parts{1, 1}, Parts{0, 1}, Parts{0, 2}};
}

// Rows of `a` are used again and should remain in the first-level cache, so b, which is not, is
// loaded in a way that does not displace them.
template <bool kLower>
void add_product(char const* a, std::int64_t row_bytes, bool load_a, char const* b, bool load_b) {
  if (load_b) {
    _tile_stream_loadd(6, b, 2 * kRowBytes);
    _tile_stream_loadd(7, b + kRowBytes, 2 * kRowBytes);
  }
  if (load_a) _tile_loadd(4, a, row_bytes);
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (kLower) {
    if (load_a) _tile_loadd(5, a + 16 * row_bytes, row_bytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

// Prefetches a contiguous range of memory, an equal part of it for each panel of b and each step of
// kTileDepth along the depth.
class FetchedSpan {
 public:
  FetchedSpan() = default;
  FetchedSpan(void const* first, std::int64_t bytes, std::int64_t panel, std::int64_t panels,
              std::int64_t steps)
      : m_lines_a_step((bytes / kRowBytes + steps * panels - 1) / (steps * panels)),
        m_at(static_cast<char const*>(first) + panel * m_lines_a_step * steps * kRowBytes) {}
  void fetch_step() {
    for (std::int64_t line = 0; line < m_lines_a_step; ++line, m_at += kRowBytes)
      _mm_prefetch(m_at, _MM_HINT_T1);
  }

 private:
  std::int64_t m_lines_a_step = 0;
  char const* m_at = nullptr;
};

// Prefetches bf16 rows. While products with one panel of b are computed, some of the rows are
// fetched from their start to their end.
class FetchedRows {
 public:
  FetchedRows() = default;
  FetchedRows(TileProduct const& p, std::int64_t panel) : m_row_bytes(p.a_row_bytes) {
    auto const each = (kPanel + p.b_panels - 1) / p.b_panels;
    auto const row = std::min(panel * each, kPanel);
    m_at = static_cast<char const*>(p.next_a) + row * m_row_bytes;
    m_count = std::min(each, kPanel - row);
  }
  void fetch_step() {
    for (std::int64_t row = 0; row < m_count; ++row)
      _mm_prefetch(m_at + row * m_row_bytes + m_done_bytes, _MM_HINT_T1);
    m_done_bytes += kRowBytes;
  }

 private:
  std::int64_t m_row_bytes = 0, m_count = 0, m_done_bytes = 0;
  char const* m_at = nullptr;
};

// Prefetches the next products' factors into the second-level cache while the products with one
// panel of b are computed.
struct Ahead {
  FetchedRows rows_of_a;
  FetchedSpan packed_a, b;

  Ahead(TileProduct const& p, std::int64_t parts, std::int64_t panel) {
    auto const steps = p.depth / kTileDepth;
    auto const a_bytes = parts * steps * kBlockBytes;
    if (p.next_a && p.a_row_bytes > 0) rows_of_a = FetchedRows(p, panel);
    if (p.next_a && p.a_row_bytes == 0)
      packed_a = FetchedSpan(p.next_a, a_bytes, panel, p.b_panels, steps);
    if (p.next_b) b = FetchedSpan(p.next_b, p.next_b_bytes, panel, p.b_panels, steps);
  }
  void fetch_step() {
    rows_of_a.fetch_step();
    packed_a.fetch_step();
    b.fetch_step();
  }
};

template <int kParts, bool kLower>
void add_products(TileProduct const& p, char const* a, char const* b, std::int64_t b_part_bytes,
                  Ahead ahead) {
  constexpr auto products = products_of_parts<kParts>();
  RowSteps const step(p);
  auto const a_part_bytes = p.depth / kTileDepth * kBlockBytes;
  for (std::int64_t depth = 0; depth < p.depth; depth += kTileDepth) {
    ahead.fetch_step();
#pragma GCC unroll 8
    for (std::size_t i = 0; i < products.size(); ++i) {
      auto const [a_part, b_part] = products[i];
      add_product<kLower>(a + a_part * a_part_bytes, step.row_bytes,
                          i == 0 || products[i - 1].a != a_part, b + b_part * b_part_bytes,
                          i == 0 || products[i - 1].b != b_part);
    }
    a += step.block_bytes;
    b += kBlockBytes;
  }
}

template <int kParts, bool kLower>
void product_of(TileProduct const& p) {
  auto const stride_bytes = p.c_stride * 4;
  PanelSteps const step(p, kTileDepth);
  auto const* b = static_cast<char const*>(p.b) + step.first_bytes;
  auto* c = p.c;
  p.add ? load_sums<kLower>(c, stride_bytes) : clear_sums<kLower>();
  for (std::int64_t panel = 0; panel < p.b_panels; ++panel) {
    if (panel > 0) {
      switch_sums<kLower>(c, c + kPanel, p.add, stride_bytes);
      c += kPanel;
    }
    add_products<kParts, kLower>(p, static_cast<char const*>(p.a), b, step.panel_bytes,
                                 Ahead(p, kParts, panel));
    b += kParts * step.panel_bytes;
  }
  store_sums<kLower>(c, stride_bytes);
}

template <int kParts>
void product(TileProduct const& p) {
  Tiles const tiles(p.rows);
  p.rows > 16 ? product_of<kParts, true>(p) : product_of<kParts, false>(p);
}

// Asks Linux to let the process use the tile registers. Returns whether Linux does.
bool allowed() {
  constexpr int request_permission = 0x1023, tile_data = 18;
  return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

bool present() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  unsigned const amx_bf16 = 1u << 22, amx_tile = 1u << 24;
  return (d & amx_bf16) && (d & amx_tile);
}

constexpr TileKernels kernels_bf16{.name = "amx-bf16",
                                   .bytes_per_element = 2,
                                   .pack_a = pack_a_bf16_avx512,
                                   .pack_b = pack_b_bf16_avx512,
                                   .product = product<1>,
                                   .matrix_unit = true,
                                   .reads_rows = true};
constexpr TileKernels kernels_f32{.name = "amx-bf16x3",
                                  .bytes_per_element = 6,
                                  .pack_a = pack_a_split_avx512,
                                  .pack_b = pack_b_split_avx512,
                                  .product = product<3>,
                                  .matrix_unit = true,
                                  .reads_rows = false};

}  // namespace

TileKernels const* amx(DType dtype) {
  static bool const usable = avx512(DType::bf16) && present() && allowed();
  if (!usable) return nullptr;
  return dtype == DType::bf16 ? &kernels_bf16 : &kernels_f32;
}

}  // namespace spillway::tiles
