// Products on AMX: eight tile registers, of which four hold a 32 x 32 block of c.
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "kernels/tiles/kinds.hpp"

namespace spillway::tiles {
namespace {

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// Registers 0 to 3: c, by halves of rows and columns; 4, 5: halves of a; 6, 7: halves of b.
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
    // GCC 12's intrinsic claims to read 8 bytes: without this the others may stay unwritten.
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

template <bool kLower>
void add_product(char const* a, std::int64_t row_bytes) {
  _tile_loadd(4, a, row_bytes);
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (kLower) {
    _tile_loadd(5, a + 16 * row_bytes, row_bytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

// Rows of the next product's `a` that are fetched into the second cache along with a panel of b.
struct NextRows {
  char const* first;
  std::int64_t count = 0;

  NextRows(TileProduct const& p, std::int64_t panel) : first(static_cast<char const*>(p.a)) {
    if (!p.next_a) return;
    auto const each = (kPanel + p.b_panels - 1) / p.b_panels;
    auto const row = std::min(panel * each, p.rows);
    first = static_cast<char const*>(p.next_a) + row * RowSteps(p).row_bytes;
    count = std::min(each, p.rows - row);
  }
};

// Every number is the sum of kParts bf16, the largest first; products of parts that matter are
// those whose indices sum to less than kParts. All of a block are in the first cache at once.
template <int kParts, bool kLower>
void add_products(TileProduct const& p, char const* a, char const* b, std::int64_t b_part_bytes,
                  NextRows next) {
  RowSteps const step(p);
  auto const a_part_bytes = p.depth / kTileDepth * kBlockBytes;
  for (std::int64_t depth = 0; depth < p.depth; depth += kTileDepth) {
    for (std::int64_t row = 0; row < next.count; ++row)
      _mm_prefetch(next.first + row * step.row_bytes, _MM_HINT_T1);
    next.first += step.block_bytes;
    for (int b_part = 0; b_part < kParts; ++b_part) {
      _tile_loadd(6, b + b_part * b_part_bytes, 2 * kRowBytes);
      _tile_loadd(7, b + b_part * b_part_bytes + kRowBytes, 2 * kRowBytes);
      for (int a_part = kParts - 1 - b_part; a_part >= 0; --a_part)
        add_product<kLower>(a + a_part * a_part_bytes, step.row_bytes);
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
  for (std::int64_t panel = 0; panel < p.b_panels; ++panel) {
    p.add ? load_sums<kLower>(c, stride_bytes) : clear_sums<kLower>();
    add_products<kParts, kLower>(p, static_cast<char const*>(p.a), b, step.panel_bytes,
                                 NextRows(p, panel));
    store_sums<kLower>(c, stride_bytes);
    b += kParts * step.panel_bytes;
    c += kPanel;
  }
}

template <int kParts>
void product(TileProduct const& p) {
  Tiles const tiles(p.rows);
  p.rows > 16 ? product_of<kParts, true>(p) : product_of<kParts, false>(p);
}

// Linux hands out the tile registers on request, to the whole process.
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
