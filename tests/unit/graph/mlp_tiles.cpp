#include "graph/mlp_tiles.hpp"

#include <gtest/gtest.h>

#include <map>

namespace spillway::mlp_tiles_test {
namespace {

// An MLP of 8 columns, 12 inside, with `rows` rows in samples of `sequence` of them.
struct Case {
  IdVector<Tensor> tensors;
  Op op;

  Case(std::int64_t rows, std::int64_t chunk, std::int64_t sequence, double dropout) {
    auto const x = add(DType::bf16, {rows, 8}), w_in = add(DType::bf16, {8, 12}),
               w_out = add(DType::bf16, {12, 8}), y = add(DType::bf16, {rows, 8});
    auto const samples = dropout > 0 ? add(DType::i64, {rows / sequence}) : View{};
    set_operands(op, Operands<OpKind::mlp>{
                         .x = x, .w_in = w_in, .w_out = w_out, .samples = samples, .y = y});
    op.name = "mlp";
    op.attributes = MlpAttributes{chunk, Activation::silu, false, {dropout, sequence, 1, 2}};
  }
  View add(DType dtype, Shape shape) {
    auto const id = static_cast<TensorId>(tensors.size());
    tensors.push_back({.id = id, .name = "", .dtype = dtype, .shape = std::move(shape)});
    return whole(tensors.back());
  }
};

View written(std::vector<Op> const& ops) {
  return operands<OpKind::matmul>(ops.back()).c;
}

TEST(MlpTiles, have_each_row_once_and_in_order) {
  for (auto const& [rows, chunk, sequence, dropout] :
       {std::tuple(57, 12, 19, 0.0), std::tuple(57, 12, 19, 0.1), std::tuple(8, 100, 4, 0.1),
        std::tuple(8, 4, 8, 0.0), std::tuple(8, 1, 8, 0.0)}) {
    Case const c(rows, chunk, sequence, dropout);
    MlpTiles const tiles(c.op, c.tensors);
    std::int64_t next = 0;
    for (int tile = 0; tile < tiles.count(); ++tile) {
      auto const y = written(tiles.ops(tile));
      EXPECT_EQ(y.offset, 8 * next);
      EXPECT_LE(y.shape[0], std::max(chunk, 4));
      if (dropout > 0) {
        EXPECT_EQ(next / sequence, (next + y.shape[0] - 1) / sequence) << "rows of two samples";
      }
      next += y.shape[0];
    }
    EXPECT_EQ(next, rows);
  }
}

TEST(MlpTiles, draw_random_numbers_for_the_rows_of_their_sample) {
  Case const c(38, 12, 19, 0.1);
  MlpTiles const tiles(c.op, c.tensors);
  ASSERT_EQ(tiles.count(), 4);
  for (int tile = 0; tile < 4; ++tile) {
    auto const ops = tiles.ops(tile);
    Op const& dropout = ops.at(2);
    auto const& attributes = attributes_of<DropoutAttributes>(dropout);
    EXPECT_EQ(attributes.first_row, tile % 2 == 0 ? 0 : 12);
    EXPECT_EQ(attributes.sequence, tile % 2 == 0 ? 12 : 7);
    EXPECT_EQ(operands<OpKind::dropout>(dropout).samples.offset, tile / 2);
  }
}

TEST(MlpTiles, that_are_alike_stand_for_all) {
  for (auto const& [rows, chunk, sequence, dropout] :
       {std::tuple(57, 12, 19, 0.0), std::tuple(57, 12, 19, 0.1), std::tuple(8, 100, 4, 0.1),
        std::tuple(8, 4, 8, 0.0), std::tuple(9, 12, 9, 0.0), std::tuple(63, 4, 21, 0.1)}) {
    Case const c(rows, chunk, sequence, dropout);
    MlpTiles const tiles(c.op, c.tensors);
    std::map<std::int64_t, int> counts, expected;
    for (auto const& [tile, count] : tiles.alike())
      counts[written(tiles.ops(tile)).shape[0]] += count;
    for (int tile = 0; tile < tiles.count(); ++tile) ++expected[written(tiles.ops(tile)).shape[0]];
    EXPECT_EQ(counts, expected) << rows << " rows by " << chunk;
  }
}

}  // namespace
}  // namespace spillway::mlp_tiles_test
