// Sums that are stored in bf16: their error is that of one rounding, however many numbers were
// added. The sum over micro-batches is the exception, as optim.gradients says.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph/gradient_slice.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_sums_test {
namespace {

using test::KernelHarness;

constexpr std::int64_t kColumns = 16;

// Sums of numbers of one sign: in bf16, added one by one, they would stand still at 256 times one
// of them. What is summed is in fp32, which may be off by 2^-24 with each addition.
class Sums : public ::testing::TestWithParam<std::int64_t> {
 protected:
  std::int64_t const n = GetParam();
  KernelHarness h;

  View numbers(Shape shape) {
    auto const view = h.tensor(DType::bf16, std::move(shape));
    h.fill_integers(view, 64, 256);  // bf16 has them all
    return view;
  }
  View all(DType type, Shape shape, double value) {
    auto const view = h.tensor(type, std::move(shape));
    h.fill_normal(view, 0, value);
    return view;
  }
  View none(Shape shape) { return all(DType::i32, std::move(shape), 0); }
  View sum(Shape shape) { return h.tensor(DType::bf16, std::move(shape)); }

  // exact(row, column) are the numbers that column of the result is the sum of.
  void expect_sums(View const& result, std::int64_t columns,
                   std::function<double(std::int64_t, std::int64_t)> const& exact) const {
    double const bound = 0x1p-8 + static_cast<double>(n) * 0x1p-24;
    for (std::int64_t column = 0; column < columns; ++column) {
      double expected = 0;
      for (std::int64_t row = 0; row < n; ++row) expected += exact(row, column);
      EXPECT_NEAR(h.result(result, column), expected, bound * expected) << column;
    }
  }
  void expect_column_sums(View const& result, View const& of) const {
    auto const values = h.contents(of);
    expect_sums(result, kColumns, [&](std::int64_t row, std::int64_t column) {
      return values[static_cast<std::size_t>(row * kColumns + column)];
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Of, Sums, ::testing::Values(100, 1000));

TEST_P(Sums, of_a_bias_gradient) {
  auto const dy = numbers({n, kColumns}), db = sum({kColumns});
  h.op(OpKind::column_sum, {dy}, {db});
  h.run(host::kernel(OpKind::column_sum));
  expect_column_sums(db, dy);
}

TEST_P(Sums, of_a_words_gradient_and_of_a_positions) {
  auto const dx = numbers({n, kColumns});
  auto const dwte = sum({3, kColumns}), dwpe = sum({2, kColumns}), dwtt = sum({2, kColumns});
  h.op(OpKind::embed_backward, {none({n}), dx, none({n}), none({n})}, {dwte, dwpe, dwtt},
       EmbedAttributes{n});
  h.run(host::kernel(OpKind::embed_backward));
  for (auto const& table : {dwte, dwpe, dwtt}) expect_column_sums(table, dx);
}

TEST_P(Sums, of_a_matrix_gradient) {
  auto const x = all(DType::bf16, {n, 1}, 1), dy = numbers({n, kColumns});
  auto const dw = sum({1, kColumns});
  h.op(OpKind::matmul, {transposed(x), dy, {}, {}}, {dw});
  h.run(host::kernel(OpKind::matmul));
  expect_column_sums(dw, dy);
}

TEST_P(Sums, of_the_gradients_of_norms) {
  auto const dy = numbers({n, kColumns}), x = all(DType::bf16, {n, kColumns}, 1);
  auto const gamma = all(DType::bf16, {kColumns}, 1), dx = sum({n, kColumns});
  auto const mean = all(DType::f32, {n}, 0), rstd = all(DType::f32, {n, 1}, 1);
  auto const dgamma = sum({kColumns}), dbeta = sum({kColumns});
  h.op(OpKind::layernorm_backward, {dy, x, gamma, mean, rstd, {}}, {dx, dgamma, dbeta});
  h.run(host::kernel(OpKind::layernorm_backward));
  for (auto const& result : {dgamma, dbeta}) expect_column_sums(result, dy);
  h.op(OpKind::rmsnorm_backward, {dy, x, gamma, rstd, {}}, {dx, dgamma});
  h.run(host::kernel(OpKind::rmsnorm_backward));
  expect_column_sums(dgamma, dy);
}

TEST_P(Sums, over_ranks) {
  auto const parts = numbers({n, kNormTile}), own = numbers({kColumns});
  h.op(OpKind::tree_sum, {parts}, {own});
  h.run(host::kernel(OpKind::tree_sum));
  auto const others = h.contents(parts), first = h.contents(own);
  expect_sums(own, kColumns, [&](std::int64_t rank, std::int64_t column) {
    return rank == 0 ? first[static_cast<std::size_t>(column)]
                     : others[static_cast<std::size_t>(rank * kNormTile + column)];
  });
}

// Adds 1 to a sum `micro_batches` times.
double sum_over(DType type, int micro_batches) {
  KernelHarness h;
  auto const fresh = h.tensor(type, {1}), total = h.tensor(type, {1});
  h.set(fresh, 0, 1);
  h.set(total, 0, 0);
  h.op(OpKind::accumulate, {fresh}, {total});
  for (int i = 0; i < micro_batches; ++i) {
    h.run(host::kernel(OpKind::accumulate));
    h.keep_results();
  }
  return h.contents(total)[0];
}

TEST(SumsOverMicroBatches, stand_still_in_bf16_as_the_keys_document_says) {
  EXPECT_EQ(sum_over(DType::bf16, 256), 256);
  EXPECT_EQ(sum_over(DType::bf16, 400), 256);
  EXPECT_EQ(sum_over(DType::f32, 400), 400);
}

}  // namespace
}  // namespace spillway::kernels_sums_test
