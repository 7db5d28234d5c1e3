// How products are cut: everything is covered once, nothing overlaps, whatever the shape and the
// number of threads.
#include "kernels/host/tile_cut.hpp"

#include <gtest/gtest.h>

#include <map>

namespace spillway::tile_cut_test {
namespace {

struct Lie {
  std::int64_t rows, columns, depth;
  bool a_transposed, b_transposed;
};

MatmulShape shape_of(DType dtype, Lie const& l) {
  return {.a = l.a_transposed ? dense_matrix(dtype, l.depth, l.rows).transposed()
                              : dense_matrix(dtype, l.rows, l.depth),
          .b = l.b_transposed ? dense_matrix(dtype, l.columns, l.depth).transposed()
                              : dense_matrix(dtype, l.depth, l.columns),
          .c = dense_matrix(DType::f32, l.rows, l.columns)};
}

// Every panel of every depth block of a pass, as often as units pack it.
void expect_packed_once(host::Factor const& f, std::int64_t depth_blocks) {
  if (f.supply != host::Supply::ahead) return;
  std::map<std::pair<std::int64_t, std::int64_t>, int> packed;
  for (std::int64_t item = 0; item < f.units(depth_blocks); ++item) {
    auto const first = item % f.groups() * f.at_once;
    for (auto panel = first; panel < std::min(first + f.at_once, f.panels()); ++panel) {
      if (!f.through) ++packed[{panel, item / f.groups()}];
      for (std::int64_t d = 0; f.through && d < depth_blocks; ++d) ++packed[{panel, d}];
    }
  }
  EXPECT_EQ(std::ssize(packed), f.panels() * depth_blocks);
  for (auto const& [place, times] : packed) EXPECT_EQ(times, 1);
}

void expect_places_apart(host::TileCut const& cut) {
  std::int64_t end = 0;
  for (auto const* f : {&cut.a, &cut.b}) {
    if (f->supply != host::Supply::ahead) continue;
    EXPECT_EQ(f->offset, end);
    for (std::int64_t d = 0; d < cut.pass; ++d) {
      auto const bytes = cut.kernels->panel_bytes(cut.depth.length(d));
      EXPECT_GE(f->offset + cut.ahead_bytes(*f, d, 0), end);
      end = f->offset + cut.ahead_bytes(*f, d, f->panels() - 1) + bytes;
    }
    end = std::max(end, f->offset + cut.pass * f->panels() * cut.panel_bytes());
  }
  EXPECT_LE(end, cut.scratch_offset);
  EXPECT_GE(cut.scratch_bytes, cut.rows.size * cut.sums_row() * size_bytes(DType::f32));
  EXPECT_EQ(cut.workspace_bytes(), cut.scratch_offset + cut.scratches() * cut.scratch_bytes);
}

constexpr Lie kShapes[] = {{1, 1, 1, false, false},           {33, 31, 65, true, false},
                           {2048, 768, 3072, false, true},    {3072, 768, 2048, true, false},
                           {512, 50257, 768, false, true},    {512, 768, 50257, false, false},
                           {50257, 768, 512, true, false},    {40, 70, 300'000, true, true},
                           {100'000, 100'000, 32, true, true}};

TEST(TileCut, covers_everything_once_and_keeps_it_apart) {
  for (auto const dtype : {DType::bf16, DType::f32})
    for (auto const& l : kShapes)
      for (auto const threads : {1, 2, 7, 64, 200}) {
        host::TileCut const cut(shape_of(dtype, l), false, tile_kernels(dtype, false), threads);
        SCOPED_TRACE(testing::Message() << name(dtype) << " " << l.rows << " x " << l.columns
                                        << " x " << l.depth << ", " << threads << " threads");
        ASSERT_GE(cut.pass, 1);
        ASSERT_LE(cut.pass, cut.depth.count);
        for (auto const* blocks : {&cut.rows, &cut.columns, &cut.depth}) {
          EXPECT_GT(blocks->length(blocks->count - 1), 0);
          EXPECT_EQ(blocks->first(blocks->count - 1) + blocks->length(blocks->count - 1),
                    blocks->extent);
        }
        auto const last_pass = cut.depth.count - (cut.depth.count - 1) / cut.pass * cut.pass;
        for (auto const depth_blocks : {cut.pass, last_pass}) {
          expect_packed_once(cut.a, depth_blocks);
          expect_packed_once(cut.b, depth_blocks);
        }
        expect_places_apart(cut);
      }
}

using host::Supply;

// `a` lies as it is said, b and c are dense.
host::TileCut cut_of(MatrixLayout const& a, std::int64_t columns, bool a_zero_padded,
                     std::int64_t threads = 2) {
  MatmulShape const shape{.a = a,
                          .b = dense_matrix(a.dtype, a.columns, columns),
                          .c = dense_matrix(a.dtype, a.rows, columns)};
  return {shape, a_zero_padded, tile_kernels(a.dtype, true), threads};
}

TEST(TileCut, reads_rows_of_bf16_in_place_where_they_are_of_whole_tiles_or_go_on_with_zeros) {
  auto const supply = [](DType dtype, std::int64_t depth, bool a_zero_padded) {
    MatrixLayout const rows{dtype, 100, depth, 64, 1};
    return cut_of(rows, 70, a_zero_padded).a.supply;
  };
  EXPECT_EQ(supply(DType::bf16, 50, true), Supply::in_place);
  EXPECT_EQ(supply(DType::bf16, 50, false), Supply::ahead);
  EXPECT_EQ(supply(DType::bf16, 64, false), Supply::in_place);
  EXPECT_EQ(supply(DType::f32, 50, true), Supply::ahead);
  auto const columns = dense_matrix(DType::bf16, 64, 100).transposed();
  EXPECT_EQ(cut_of(columns, 70, true).a.supply, Supply::ahead);
}

// 16 MiB of packed panels of b, or of sums of c that wait, just fit.
TEST(TileCut, packs_ahead_what_just_fits) {
  struct Case {
    std::int64_t rows, columns;
    Supply b;
    std::int64_t pass;
  };
  for (auto const& [rows, columns, b, pass] :
       {Case{1024, 8192, Supply::ahead, 2}, Case{1024, 8193, Supply::per_block, 2},
        Case{256, 16384, Supply::ahead, 1}, Case{256, 16385, Supply::per_block, 2}}) {
    auto const a = dense_matrix(DType::bf16, 1024, rows).transposed();
    auto const cut = cut_of(a, columns, false);
    EXPECT_EQ(cut.depth.count, 2);
    EXPECT_EQ(cut.a.supply, Supply::ahead) << columns;
    EXPECT_EQ(cut.b.supply, b) << columns;
    EXPECT_EQ(cut.pass, pass) << columns;
    EXPECT_EQ(cut.keeps_sums(), pass == 1) << columns;
  }
}

TEST(TileCut, has_a_worker_where_nobody_said_how_many) {
  EXPECT_EQ(cut_of(dense_matrix(DType::f32, 50, 40), 70, false, 0).workers, 1);
}

TEST(TileCut, counts_more_rows_than32_bits_hold) {
  constexpr std::int64_t rows = 5'000'000'000;
  auto const cut = cut_of(dense_matrix(DType::bf16, 96, rows).transposed(), 40, false);
  EXPECT_EQ(cut.a.panels(), 156'250'000);
  EXPECT_EQ(cut.a.supply, Supply::per_block);
  EXPECT_EQ(cut.rows.size, 256);
  EXPECT_EQ(cut.blocks(), 19'531'250);
  EXPECT_EQ(cut.rows.first(cut.rows.count - 1), 4'999'999'744);
  EXPECT_EQ(cut.rows.length(cut.rows.count - 1), 256);
  EXPECT_EQ(cut.workspace_bytes(), 274'432);
}

}  // namespace
}  // namespace spillway::tile_cut_test
