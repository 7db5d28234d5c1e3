// How the loss and its backward sum: numbers whose sum shows the order of its terms, or its type.
#include <gtest/gtest.h>

#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_lm_head_sums_test {
namespace {

using test::KernelHarness;

// A head whose targets are all 1, and whose weight is 0 unless it is filled.
struct Head {
  static constexpr std::int64_t hidden = 8;
  std::int64_t rows;
  KernelHarness h;
  View x, w, targets, weights, bias, losses, loss, dx, dw, dbias;

  Head(DType element, DType gradient, std::int64_t row_count, std::int64_t vocab)
      : rows(row_count),
        x(h.tensor(element, {rows, hidden})),
        w(h.tensor(element, {vocab, hidden})),
        targets(h.tensor(DType::i32, {rows})),
        weights(h.tensor(DType::f32, {rows})),
        bias(h.tensor(element, {vocab})),
        losses(h.tensor(DType::f32, {rows})),
        loss(h.tensor(DType::f64, {2})),
        dx(h.tensor(element, {rows, hidden})),
        dw(h.tensor(gradient, {vocab, hidden})),
        dbias(h.tensor(gradient, {vocab})) {
    h.fill_normal(x, 1);
    h.fill_normal(w, 0);
    h.fill_normal(bias, 0);
    h.fill_normal(weights, 0);
    h.fill_integers(targets, 1, 2);
  }
  void backward(std::int64_t rows_at_once, bool accumulate = false) {
    h.op(OpKind::lm_head_loss_backward, {x, w, targets, weights, bias},
         {losses, loss, dx, dw, dbias}, LmHeadAttributes{rows_at_once, 1},
         accumulate ? std::vector{3} : std::vector<int>{});
    h.run(host::kernel(OpKind::lm_head_loss_backward));
  }
};

TEST(KernelLmHeadSums, of_weights_are_made_in_fp64) {
  Head c(DType::f32, DType::f32, 67, 5);
  c.h.set(c.weights, 0, 0x1p24);
  c.h.set(c.weights, 32, 1);
  c.h.set(c.weights, 64, 1);
  c.backward(67);
  EXPECT_EQ(c.h.result(c.loss, 1), 0x1p24 + 2);
}

// The first two rows take each other away before the third comes, or else leave little of it.
TEST(KernelLmHeadSums, of_rows_begin_with_the_first_row) {
  for (auto const element : {DType::f32, DType::bf16})
    for (std::int64_t const rows_at_once : {1, 3, 64}) {
      Head c(element, DType::f32, 7, 101);
      c.h.fill_normal(c.w, 0.5);
      auto values = c.h.contents(c.x);
      for (std::int64_t i = 0; i < Head::hidden; ++i)
        c.h.set(c.x, Head::hidden + i, values[static_cast<std::size_t>(i)]);
      c.h.set(c.weights, 2, 0.37);
      c.backward(rows_at_once);
      auto const of_third = c.h.results(c.dbias);
      c.h.set(c.weights, 0, 0x1p20);
      c.h.set(c.weights, 1, -0x1p20);
      c.backward(rows_at_once);
      EXPECT_EQ(c.h.results(c.dbias), of_third) << rows_at_once << " rows at once";
    }
}

// With two words and no weight, slopes are halves of a row's weight. 256 + 1 + 2^-8 is nearer to
// 258 than to 256, and 256 + 1 is not.
TEST(KernelLmHeadSums, of_portions_are_rounded_once_with_what_was_there) {
  for (std::int64_t const rows_at_once : {1, 64}) {
    Head c(DType::bf16, DType::bf16, 2, 2);
    for (std::int64_t i = 0; i < Head::hidden; ++i) {
      c.h.set(c.x, i, 1);
      c.h.set(c.x, Head::hidden + i, 0x1p-8);
    }
    c.h.fill_normal(c.weights, 0, 2);
    c.h.fill_normal(c.dw, 0, 256);
    c.backward(rows_at_once, true);
    for (std::int64_t i = 0; i < Head::hidden; ++i) EXPECT_EQ(c.h.result(c.dw, i), 258);
  }
}

}  // namespace
}  // namespace spillway::kernels_lm_head_sums_test
