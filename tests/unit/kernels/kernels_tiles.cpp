// Every kind of tile kernels that this processor runs, against sums in fp64: odd sizes, all ways
// that factors lie in memory.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/bf16.hpp"
#include "kernels/host/tiles/kinds.hpp"
#include "kernels/host/tiles/tiles.hpp"

namespace spillway::kernels_tiles_test {
namespace {

struct AlignedBytes {
  explicit AlignedBytes(std::int64_t bytes) : storage(static_cast<std::size_t>(bytes) / 64 + 1) {}
  void* data() { return storage.data(); }

  struct alignas(64) Line {
    unsigned char bytes[64] = {};
  };
  std::vector<Line> storage;
};

// A factor of seeded numbers, with NaN in whatever is not it.
struct Factor {
  std::vector<float> f32;
  std::vector<bf16> bits;
  TileSource source;

  Factor(DType dtype, std::int64_t lines, std::int64_t depth, bool depth_contiguous, int seed) {
    auto const inner = depth_contiguous ? depth : lines, outer = depth_contiguous ? lines : depth;
    auto const stride = inner + 3;
    f32.assign(static_cast<std::size_t>(outer * stride), std::nanf(""));
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i) {
        auto const n = static_cast<std::uint64_t>(o * inner + i + seed) * 2654435761u % 100003u;
        auto const x = static_cast<float>(n) / 50001.0f - 1.0f;
        f32[static_cast<std::size_t>(o * stride + i)] =
            dtype == DType::bf16 ? to_float(to_bf16(x)) : x;
      }
    for (auto const x : f32) bits.push_back(to_bf16(x));
    source = {.data = f32.data(),
              .dtype = dtype,
              .depth_contiguous = depth_contiguous,
              .stride = stride,
              .lines = lines,
              .depth = depth};
    if (dtype == DType::bf16) source.data = bits.data();
  }
  double at(std::int64_t line, std::int64_t depth) const {
    auto const i =
        source.depth_contiguous ? line * source.stride + depth : depth * source.stride + line;
    return f32[static_cast<std::size_t>(i)];
  }
};

constexpr float kGuard = -77;

// c = [existing +] a b by `kernels`, a panel of rows at a time.
std::vector<float> product(TileKernels const& kernels, TileSource const& a, TileSource const& b,
                           bool add, bool read_rows) {
  auto const depth = padded_depth(a.depth), columns = panel_count(b.lines) * kPanel;
  AlignedBytes rows(panel_count(a.lines) * kernels.panel_bytes(a.depth));
  AlignedBytes panels(panel_count(b.lines) * kernels.panel_bytes(b.depth));
  kernels.pack_a(a, rows.data());
  kernels.pack_b(b, panels.data());
  std::vector<float> c(static_cast<std::size_t>((a.lines + 1) * columns), kGuard);
  for (std::int64_t first = 0; first < a.lines; first += kPanel) {
    auto const packed =
        static_cast<char const*>(rows.data()) + first / kPanel * kernels.panel_bytes(a.depth);
    auto const in_memory = static_cast<char const*>(a.data) + 2 * first * a.stride;
    kernels.product({.a = read_rows ? in_memory : packed,
                     .a_row_bytes = read_rows ? 2 * a.stride : 0,
                     .b = panels.data(),
                     .c = c.data() + first * columns,
                     .c_stride = columns,
                     .rows = std::min(kPanel, a.lines - first),
                     .b_panels = panel_count(b.lines),
                     .depth = depth,
                     .add = add});
  }
  for (std::int64_t j = 0; j < columns; ++j)
    EXPECT_EQ(c[static_cast<std::size_t>(a.lines * columns + j)], kGuard) << kernels.name;
  return c;
}

void expect_product(std::vector<float> const& c, Factor const& a, Factor const& b, bool add,
                    char const* who, double tolerance) {
  auto const columns = panel_count(b.source.lines) * kPanel;
  for (std::int64_t i = 0; i < a.source.lines; ++i)
    for (std::int64_t j = 0; j < b.source.lines; ++j) {
      double sum = add ? kGuard : 0, size = add ? -kGuard : 0;
      for (std::int64_t k = 0; k < a.source.depth; ++k) {
        sum += a.at(i, k) * b.at(j, k);
        size += std::abs(a.at(i, k) * b.at(j, k));
      }
      ASSERT_NEAR(c[static_cast<std::size_t>(i * columns + j)], sum, tolerance * size + 1e-30)
          << who << " at " << i << ", " << j;
    }
}

struct ProductSize {
  std::int64_t rows, columns, depth;
};
constexpr ProductSize kOdd[] = {{1, 1, 1}, {5, 37, 33}, {33, 64, 31}, {47, 95, 70}, {64, 32, 128}};

// What a sum of `depth` fp32 roundings may be off; three bf16 per number must be as good.
double tolerance(std::int64_t depth) {
  return std::ldexp(1.0, -23) * std::sqrt(static_cast<double>(depth) + 1);
}

class TileKernelsOf : public testing::TestWithParam<DType> {};

TEST_P(TileKernelsOf, multiply_factors_however_they_lie) {
  for (auto const* kernels : all_tile_kernels(GetParam()))
    for (auto const& [rows, columns, depth] : kOdd)
      for (bool const a_contiguous : {false, true})
        for (bool const b_contiguous : {false, true})
          for (bool const add : {false, true}) {
            Factor const a(GetParam(), rows, depth, a_contiguous, 1);
            Factor const b(GetParam(), columns, depth, b_contiguous, 2);
            expect_product(product(*kernels, a.source, b.source, add, false), a, b, add,
                           kernels->name, tolerance(depth));
          }
}

// As attention multiplies weights by the values of some keys of a tile.
TEST_P(TileKernelsOf, multiply_a_part_of_what_deeper_panels_hold) {
  constexpr std::int64_t rows = 9, columns = 40, depth = 64, all = 160;
  Factor const a(GetParam(), rows, depth, true, 1), b(GetParam(), columns, all, true, 2);
  for (auto const* kernels : all_tile_kernels(GetParam())) {
    AlignedBytes panel(kernels->panel_bytes(depth)), panels(2 * kernels->panel_bytes(all));
    kernels->pack_a(a.source, panel.data());
    kernels->pack_b(b.source, panels.data());
    for (std::int64_t const first : {0, 32, 96})
      for (bool const add : {false, true}) {
        std::vector<float> c(static_cast<std::size_t>(rows * 64), 5);
        kernels->product({.a = panel.data(),
                          .b = panels.data(),
                          .c = c.data(),
                          .c_stride = 64,
                          .rows = rows,
                          .b_panels = 2,
                          .depth = depth,
                          .add = add,
                          .b_depth = all,
                          .b_first = first});
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j) {
            double sum = add ? 5 : 0, size = 5;
            for (std::int64_t k = 0; k < depth; ++k) {
              sum += a.at(i, k) * b.at(j, first + k);
              size += std::abs(a.at(i, k) * b.at(j, first + k));
            }
            ASSERT_NEAR(c[static_cast<std::size_t>(i * 64 + j)], sum, tolerance(depth) * size)
                << kernels->name << " from " << first << " at " << i << ", " << j;
          }
      }
  }
}

TEST_P(TileKernelsOf, show_what_is_not_finite_in_its_row_alone) {
  constexpr std::size_t columns = 64;
  for (float const x : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Factor a(GetParam(), 5, 33, true, 1), b(GetParam(), 37, 33, false, 2);
    auto const at = static_cast<std::size_t>(3 * a.source.stride + 20);
    a.f32[at] = x;
    a.bits[at] = to_bf16(x);
    for (auto const* kernels : all_tile_kernels(GetParam())) {
      auto const c = product(*kernels, a.source, b.source, false, false);
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = 0; j < 37; ++j)
          ASSERT_EQ(std::isfinite(c[i * columns + j]), i != 3) << kernels->name << " " << i << j;
    }
  }
}

// Checkpoints keep the names. Those that this processor has are in this order.
TEST_P(TileKernelsOf, are_the_fastest_or_plain_loops) {
  struct Kind {
    std::string name;
    std::int64_t bytes;
    bool matrix_unit;
  };
  bool const half = GetParam() == DType::bf16;
  std::vector<Kind> const kinds =
      half
          ? std::vector<Kind>{{"amx-bf16", 2, true}, {"avx512-bf16", 2, false}, {"portable", 2, {}}}
          : std::vector<Kind>{{"amx-bf16x3", 6, true}, {"avx512", 4, false}, {"portable", 4, {}}};
  auto const all = all_tile_kernels(GetParam());
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(&tile_kernels(GetParam(), false), all.front());
  EXPECT_EQ(&tile_kernels(GetParam(), true), all.back());
  EXPECT_EQ(std::string(all.back()->name), "portable");
  std::size_t next = 0;
  for (auto const* kernels : all) {
    while (next < kinds.size() && kinds[next].name != kernels->name) ++next;
    ASSERT_LT(next, kinds.size()) << kernels->name << " is unknown, or out of order";
    EXPECT_EQ(kernels->bytes_per_element, kinds[next].bytes) << kernels->name;
    EXPECT_EQ(kernels->matrix_unit, kinds[next].matrix_unit) << kernels->name;
    EXPECT_EQ(kernels->reads_rows, half) << kernels->name;
    ++next;
  }
}

INSTANTIATE_TEST_SUITE_P(Numbers, TileKernelsOf, testing::Values(DType::bf16, DType::f32),
                         [](auto const& info) { return std::string(name(info.param)); });

TEST(TileKernels, read_rows_of_bf16_without_packing) {
  Factor const a(DType::bf16, 45, 96, true, 1), b(DType::bf16, 40, 96, false, 2);
  for (auto const* kernels : all_tile_kernels(DType::bf16)) {
    ASSERT_TRUE(kernels->reads_rows);
    auto const packed = product(*kernels, a.source, b.source, false, false);
    EXPECT_EQ(product(*kernels, a.source, b.source, false, true), packed) << kernels->name;
  }
}

TEST(TileKernels, round_f32_factors_to_nearest_even) {
  Factor const a(DType::f32, 40, 50, true, 1), b(DType::f32, 33, 50, false, 2);
  Factor rounded_a(DType::bf16, 40, 50, true, 1), rounded_b(DType::bf16, 33, 50, false, 2);
  for (auto const* kernels : all_tile_kernels(DType::bf16)) {
    EXPECT_EQ(product(*kernels, a.source, b.source, false, false),
              product(*kernels, rounded_a.source, rounded_b.source, false, false))
        << kernels->name;
  }
}

// A sum must not cancel what three parts hold: 1 + 2^-23 times itself, minus 1.
TEST(TileKernels, keep_all_bits_of_f32) {
  float const x = 1 + std::ldexp(1.0f, -23);
  float const a[2] = {x, -1}, b[2] = {1, 1};
  TileSource const left{.data = a, .dtype = DType::f32, .stride = 2, .lines = 1, .depth = 2};
  TileSource const right{.data = b, .dtype = DType::f32, .stride = 2, .lines = 1, .depth = 2};
  for (auto const* kernels : all_tile_kernels(DType::f32)) {
    EXPECT_EQ(product(*kernels, left, right, false, false)[0], std::ldexp(1.0f, -23))
        << kernels->name;
  }
}

// AMX multiplies f32 as three bf16, which AVX-512 packs.
TEST(SplitPanels, hold_three_numbers_whose_sum_is_each_number) {
  if (tiles::avx512(DType::bf16) == nullptr) GTEST_SKIP() << "no AVX-512 here";
  constexpr std::int64_t n = 32, elements = n * n;
  auto const sum_of_parts = [](float x, bool is_a, bool depth_contiguous) {
    std::vector<float> const all(elements, x);
    AlignedBytes panel(3 * elements * 2);
    auto const pack = is_a ? tiles::pack_a_split_avx512 : tiles::pack_b_split_avx512;
    pack({all.data(), DType::f32, depth_contiguous, n, n, n}, panel.data());
    auto const* const parts = static_cast<bf16 const*>(panel.data());
    double sum = 0;
    for (std::int64_t part = 0; part < 3; ++part) {
      auto const value = to_float(parts[part * elements]);
      for (std::int64_t i = 1; i < elements; ++i)
        EXPECT_EQ(std::memcmp(&parts[part * elements + i], &parts[part * elements], 2), 0);
      sum += value;
    }
    return sum;
  };
  for (bool const is_a : {true, false}) {
    for (bool const along : {true, false}) {
      for (float const x :
           {1.0f, -0.3f, 1.2345678e-20f, 3.3961e38f, std::numeric_limits<float>::max(),
            std::numeric_limits<float>::lowest()})
        EXPECT_EQ(sum_of_parts(x, is_a, along), x);
      for (std::uint32_t const bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0x7fc00000u})
        EXPECT_TRUE(std::isnan(sum_of_parts(std::bit_cast<float>(bits), is_a, along))) << bits;
      auto const infinity = std::numeric_limits<float>::infinity();
      EXPECT_FALSE(std::isfinite(sum_of_parts(infinity, is_a, along)));
    }
  }
}

}  // namespace
}  // namespace spillway::kernels_tiles_test
