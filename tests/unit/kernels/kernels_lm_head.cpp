// The loss and its backward against their serial references, with a vocabulary and portions
// that divide nothing; the reference's gradient against finite differences.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernel_device.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_lm_head_test {
namespace {

using test::KernelHarness;

struct Types {
  DType element, gradient;
};

struct LossCase {
  static constexpr std::int64_t rows = 23, hidden = 24, vocab = 101;
  KernelHarness h;
  View x, w, targets, weights, losses, loss, dx, dw;
  View bias, dbias;  // absent until asked for
  double scale = 1;

  explicit LossCase(Types types = {DType::f32, DType::f32}) {
    x = h.tensor(types.element, {rows, hidden});
    w = h.tensor(types.element, {vocab, hidden});
    targets = h.tensor(DType::i32, {rows});
    weights = h.tensor(DType::f32, {rows});
    losses = h.tensor(DType::f32, {rows});
    loss = h.tensor(DType::f64, {2});
    dx = h.tensor(types.element, {rows, hidden});
    dw = h.tensor(types.gradient, {vocab, hidden});
    h.fill_normal(x, 1);
    h.fill_normal(w, 0.5);
    h.fill_integers(targets, 0, vocab);
    h.fill_normal(weights, 0, 1);
    h.set(weights, 3, 0);
    h.set(weights, 22, 0);
    h.set(weights, 5, 0.25);
    h.graph().arithmetic.threads = 2;
  }
  void add_bias_and_scale(Types types = {DType::f32, DType::f32}) {
    bias = h.tensor(types.element, {vocab});
    dbias = h.tensor(types.gradient, {vocab});
    h.fill_normal(bias, 2);
    scale = 0.3;
  }
  void forward(std::int64_t rows_at_once, bool add = false) {
    h.op(OpKind::lm_head_loss, {x, w, targets, weights, bias}, {losses, loss},
         LmHeadAttributes{rows_at_once, scale}, add ? std::vector{1} : std::vector<int>{});
    h.run(host::kernel(OpKind::lm_head_loss));
  }
  void backward(std::int64_t rows_at_once, bool accumulate = false) {
    h.op(OpKind::lm_head_loss_backward, {x, w, targets, weights, bias},
         {losses, loss, dx, dw, dbias}, LmHeadAttributes{rows_at_once, scale},
         accumulate ? std::vector{3} : std::vector<int>{});
    h.run(host::kernel(OpKind::lm_head_loss_backward));
  }
  void expect_losses_match() {
    h.expect_close(losses, 2e-5, 2e-6);
    h.expect_close(loss, 1e-4, 1e-6);
    EXPECT_EQ(h.result(losses, 3), 0);
    EXPECT_EQ(h.result(loss, 1), 20.25);
  }
};

class EachPairOfTypes : public ::testing::TestWithParam<Types> {};
INSTANTIATE_TEST_SUITE_P(KernelLmHead, EachPairOfTypes,
                         ::testing::Values(Types{DType::f32, DType::f32},
                                           Types{DType::bf16, DType::f32},
                                           Types{DType::bf16, DType::bf16}),
                         [](auto const& info) {
                           return std::string(name(info.param.element)) + "_" +
                                  std::string(name(info.param.gradient));
                         });

TEST_P(EachPairOfTypes, loss_matches_the_reference_in_portions_of_any_size) {
  for (std::int64_t const rows_at_once : {7, 23, 64, 1}) {
    LossCase c(GetParam());
    c.forward(rows_at_once);
    c.expect_losses_match();
  }
}

// The slopes are rounded to the element type before their products: an error of half an ulp each.
TEST_P(EachPairOfTypes, backward_matches_the_reference_in_portions_of_any_size) {
  bool const half = GetParam().element == DType::bf16;
  for (std::int64_t const rows_at_once : {7, 23, 64})
    for (bool const accumulate : {false, true}) {
      LossCase c(GetParam());
      if (accumulate) c.h.fill_normal(c.dw, 1);
      c.backward(rows_at_once, accumulate);
      c.expect_losses_match();
      c.h.expect_close(c.dx, half ? 8e-3 : 1e-5, half ? 8e-3 : 1e-5);
      c.h.expect_close(c.dw, half ? 8e-3 : 1e-5,
                       GetParam().gradient == DType::bf16 ? 0x1p-7
                       : half                             ? 2e-3
                                                          : 1e-5);
      for (std::int64_t i = 0; i < LossCase::hidden; ++i)
        EXPECT_EQ(c.h.result(c.dx, 3 * LossCase::hidden + i), 0) << "a row without weight";
    }
}

TEST_P(EachPairOfTypes, backward_makes_no_gradient_of_what_is_frozen) {
  for (std::int64_t const rows_at_once : {7, 64}) {
    LossCase all(GetParam()), frozen(GetParam()), biased(GetParam());
    all.add_bias_and_scale(GetParam());
    all.backward(rows_at_once);
    for (LossCase* const some : {&frozen, &biased}) {
      some->add_bias_and_scale(GetParam());
      some->dw = {};
    }
    frozen.dbias = {};
    for (LossCase* const some : {&frozen, &biased}) {
      some->backward(rows_at_once);
      some->expect_losses_match();
      EXPECT_EQ(some->h.results(some->dx), all.h.results(all.dx));
    }
    EXPECT_EQ(biased.h.results(biased.dbias), all.h.results(all.dbias));
  }
}

TEST_P(EachPairOfTypes, bias_and_scale_follow_the_reference) {
  bool const half = GetParam().element == DType::bf16;
  for (char const* isa : {"", "portable"})
    for (std::int64_t const rows_at_once : {7, 64}) {
      LossCase c(GetParam());
      c.h.graph().arithmetic.isa = isa;
      c.add_bias_and_scale(GetParam());
      c.forward(rows_at_once);
      c.expect_losses_match();
      c.backward(rows_at_once);
      c.expect_losses_match();
      for (auto const& view : {c.dx, c.dw, c.dbias})
        c.h.expect_close(view, half ? 8e-3 : 1e-5, half ? 8e-3 : 1e-5);
    }
}

// As a weight lies that is stored [in, out]: the slopes are those of the same weight [out, in].
TEST_P(EachPairOfTypes, a_weight_and_its_gradient_may_lie_transposed) {
  bool const half = GetParam().element == DType::bf16;
  for (bool const accumulate : {false, true}) {
    LossCase lying(GetParam()), c(GetParam());
    c.w = transposed(c.h.tensor(GetParam().element, {LossCase::hidden, LossCase::vocab}));
    c.dw = transposed(c.h.tensor(GetParam().gradient, {LossCase::hidden, LossCase::vocab}));
    lying.h.fill_normal(lying.dw, 1);
    c.h.set_all(c.w, lying.h.contents(lying.w));
    c.h.set_all(c.dw, lying.h.contents(lying.dw));
    lying.backward(7, accumulate);
    c.backward(7, accumulate);
    EXPECT_EQ(c.h.serial_results(c.dw), lying.h.serial_results(lying.dw));
    c.expect_losses_match();
    for (auto const& view : {c.dx, c.dw})
      c.h.expect_close(view, half ? 8e-3 : 1e-5, half ? 8e-3 : 1e-5);
  }
}

TEST(KernelLmHead, rows_without_weight_are_zero_whatever_they_hold) {
  LossCase c;
  for (std::int64_t i = 0; i < LossCase::hidden; ++i)
    c.h.set(c.x, 3 * LossCase::hidden + i, i % 2 ? 1e37 : -1e37);
  c.backward(7);
  EXPECT_EQ(c.h.result(c.losses, 3), 0);
  EXPECT_TRUE(std::isfinite(c.h.result(c.loss, 0)));
  for (double const slope : c.h.results(c.dx)) EXPECT_TRUE(std::isfinite(slope));
}

// A step that overflows is known by its loss.
TEST_P(EachPairOfTypes, what_is_not_a_number_shows_in_the_loss) {
  LossCase c(GetParam());
  c.add_bias_and_scale(GetParam());
  c.forward(7);
  EXPECT_TRUE(std::isfinite(c.h.result(c.loss, 0)));
  for (auto const& input : {c.x, c.w, c.bias, c.weights}) {
    auto const before = c.h.contents(input)[2];
    c.h.set(input, 2, NAN);
    c.forward(7);
    EXPECT_TRUE(std::isnan(c.h.result(c.loss, 0)));
    c.backward(7);
    EXPECT_TRUE(std::isnan(c.h.result(c.loss, 0)));
    c.h.set(input, 2, before);
  }
}

TEST(KernelLmHead, survives_logits_of_many_hundreds) {
  LossCase c;
  c.h.fill_normal(c.x, 300);
  c.backward(7);
  c.h.expect_close(c.losses, 1e-2, 1e-5);
  c.h.expect_close(c.dx, 1e-3, 1e-3);
}

TEST(KernelLmHead, loss_collects_over_micro_batches) {
  LossCase c;
  c.forward(7);
  double const once = c.h.result(c.loss, 0);
  c.h.keep_results();
  c.forward(7, true);
  EXPECT_EQ(c.h.result(c.loss, 0), 2 * once);
  EXPECT_EQ(c.h.result(c.loss, 1), 2 * 20.25);
}

TEST(KernelLmHead, forward_and_backward_give_the_same_loss_bits) {
  LossCase c({DType::bf16, DType::bf16});
  c.forward(7);
  auto const losses = c.h.results(c.losses), loss = c.h.results(c.loss);
  c.backward(7);
  EXPECT_EQ(c.h.results(c.losses), losses);
  EXPECT_EQ(c.h.results(c.loss), loss);
}

TEST(KernelLmHead, gradient_is_the_slope_of_the_loss) {
  if (test::kernel_device() != nullptr) GTEST_SKIP() << "what is asked is the serial reference";
  LossCase c;
  c.add_bias_and_scale();
  c.backward(7);
  constexpr double step = 1e-2;
  auto const dx = c.h.results(c.dx), dw = c.h.results(c.dw), dbias = c.h.results(c.dbias);
  auto const check = [&](View const& input, std::vector<double> const& slopes, std::int64_t every) {
    auto const values = c.h.contents(input);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.size()); i += every) {
      auto const at = static_cast<std::size_t>(i);
      auto const loss_at = [&](double x) {
        c.h.set(input, i, x);
        c.forward(7);
        return c.h.serial_results(c.loss)[0];
      };
      double const above = loss_at(values[at] + step), below = loss_at(values[at] - step);
      c.h.set(input, i, values[at]);
      EXPECT_NEAR(slopes[at], (above - below) / (2 * step), 1e-3) << "element " << i;
    }
  };
  check(c.x, dx, 5);
  check(c.w, dw, 23);
  check(c.bias, dbias, 3);
}

}  // namespace
}  // namespace spillway::kernels_lm_head_test
