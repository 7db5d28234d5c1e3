// layernorm, rmsnorm and their gradients, against their serial references.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/kernel_harness.hpp"
#include "tests/unit/kernels/kernel_rows.hpp"

namespace spillway::kernels_rows_test {
namespace {

using test::KernelHarness, test::KernelRows, test::Types;

// The types of the tests in other files, too.
INSTANTIATE_TEST_SUITE_P(Types, KernelRows,
                         ::testing::Values(Types{DType::f32, DType::f32},
                                           Types{DType::bf16, DType::f32},
                                           Types{DType::bf16, DType::bf16}),
                         [](auto const& info) {
                           return std::string(name(info.param.element)) + "_" +
                                  std::string(name(info.param.gradient));
                         });

struct LayerNorm {
  KernelHarness h;
  View x, gamma, beta, y, mean, rstd;

  LayerNorm(DType t, bool bias, std::int64_t rows, std::int64_t columns)
      : x(h.tensor(t, {rows, columns})),
        gamma(h.tensor(t, {columns})),
        beta(h.tensor(t, {columns})),
        y(h.tensor(t, {rows, columns})),
        mean(h.tensor(DType::f32, {rows})),
        rstd(h.tensor(DType::f32, {rows})) {
    h.fill_normal(x, 2, 1);
    h.fill_normal(gamma, 0.5, 1);
    h.fill_normal(beta, 1);
    for (std::int64_t j = 0; j < columns; ++j) h.set(x, j, 3);  // a row without variance
    h.op(OpKind::layernorm, {x, gamma, bias ? beta : View{}}, {y, mean, rstd},
         NormAttributes{1e-5});
  }
};

TEST_P(KernelRows, layer_norm_follows_fp64) {
  for (bool const bias : {false, true})
    for (std::int64_t const columns : {1, 83, 128}) {
      LayerNorm n(T(), bias, 37, columns);
      n.h.run(host::kernel(OpKind::layernorm));
      n.h.expect_close(n.mean, 1e-6, 1e-6);
      n.h.expect_close(n.rstd, 0, 1e-5);
      n.h.expect_close(n.y, 1e-5, rounding(T()) + 1e-5);
    }
}

TEST_P(KernelRows, layer_norm_of_large_means_does_not_cancel) {
  LayerNorm n(DType::f32, true, 5, 768);
  n.h.fill_normal(n.x, 1, 1e4);
  n.h.run(host::kernel(OpKind::layernorm));
  n.h.expect_close(n.rstd, 0, 1e-4);
  n.h.expect_close(n.y, 5e-3, 1e-3);
}

struct LayerNormBackward {
  KernelHarness h;
  View dy, x, gamma, mean, rstd, addend, dx, dgamma, dbeta;

  LayerNormBackward(DType t, DType g, bool bias, bool add, std::int64_t rows)
      : dy(h.tensor(t, {rows, 83})),
        x(h.tensor(t, {rows, 83})),
        gamma(h.tensor(t, {83})),
        mean(h.tensor(DType::f32, {rows})),
        rstd(h.tensor(DType::f32, {rows})),
        addend(h.tensor(t, {rows, 83})),
        dx(h.tensor(t, {rows, 83})),
        dgamma(h.tensor(g, {83})),
        dbeta(h.tensor(g, {83})) {
    for (auto const& view : {dy, x, gamma, addend}) h.fill_normal(view, 1);
    h.fill_normal(mean, 0.1);
    h.fill_normal(rstd, 0.1, 1);
    h.op(OpKind::layernorm_backward, {dy, x, gamma, mean, rstd, add ? addend : View{}},
         {dx, dgamma, bias ? dbeta : View{}});
  }
};

TEST_P(KernelRows, layer_norm_backward_follows_fp64) {
  for (bool const bias : {false, true})
    for (bool const addend : {false, true})
      for (std::int64_t const rows : {1, 37, 200}) {
        LayerNormBackward n(T(), G(), bias, addend, rows);
        n.h.run(host::kernel(OpKind::layernorm_backward));
        n.h.expect_close(n.dx, 1e-5, rounding(T()) + 1e-5);
        n.h.expect_close(n.dgamma, 1e-4, rounding(G()) + 1e-5);
        if (bias) n.h.expect_close(n.dbeta, 1e-4, rounding(G()) + 1e-5);
      }
}

TEST_P(KernelRows, layer_norm_backward_does_not_depend_on_threads) {
  LayerNormBackward n(T(), G(), true, true, 200);
  n.h.run(host::kernel(OpKind::layernorm_backward), 1);
  auto const dgamma = n.h.result_bytes(n.dgamma), dx = n.h.result_bytes(n.dx);
  n.h.run(host::kernel(OpKind::layernorm_backward), 3);
  EXPECT_EQ(n.h.result_bytes(n.dgamma), dgamma);
  EXPECT_EQ(n.h.result_bytes(n.dx), dx);
}

// Heads that are columns 7 to 7 + heads * columns of a wider product.
struct RmsNorm {
  KernelHarness h;
  std::int64_t rows, heads, columns;
  View gamma, rstd;

  RmsNorm(DType t, std::int64_t rows_, std::int64_t heads_, std::int64_t columns_)
      : rows(rows_),
        heads(heads_),
        columns(columns_),
        gamma(h.tensor(t, {columns})),
        rstd(h.tensor(DType::f32, {rows, heads})) {
    h.fill_normal(gamma, 0.5, 1);
    h.fill_normal(rstd, 0.1, 1);
  }
  View in_wider(DType t) {
    auto const wider = h.tensor(t, {rows, heads * columns + 20});
    h.fill_normal(wider, 2, 1);
    return spillway::columns(wider, 7, heads * columns);
  }
};

TEST_P(KernelRows, rms_norm_follows_fp64) {
  for (std::int64_t const heads : {1, 3})
    for (std::int64_t const columns : {1, 83, 128}) {
      RmsNorm n(T(), 37, heads, columns);
      auto const x = n.in_wider(T()), y = n.in_wider(T());
      for (std::int64_t j = 0; j < columns; ++j) n.h.set(x, j, 0);  // nothing but eps
      n.h.op(OpKind::rmsnorm, {x, n.gamma}, {y, n.rstd}, NormAttributes{1e-5});
      n.h.run(host::kernel(OpKind::rmsnorm));
      n.h.expect_close(n.rstd, 0, 1e-5);
      n.h.expect_close(y, 1e-5, rounding(T()) + 1e-5);
      EXPECT_NEAR(n.h.result(n.rstd, 0), 1 / std::sqrt(1e-5), 1e-2);
    }
}

TEST_P(KernelRows, rms_norm_of_heads_is_that_of_rows_of_their_length) {
  RmsNorm heads(T(), 19, 4, 83), rows(T(), 19 * 4, 1, 83);
  auto const x = heads.h.tensor(T(), {19, 4 * 83}), y = heads.h.tensor(T(), {19, 4 * 83});
  auto const x_rows = rows.h.tensor(T(), {19 * 4, 83}), y_rows = rows.h.tensor(T(), {19 * 4, 83});
  heads.h.fill_normal(x, 1);
  rows.h.set_all(x_rows, heads.h.contents(x));
  heads.h.op(OpKind::rmsnorm, {x, heads.gamma}, {y, heads.rstd}, NormAttributes{});
  rows.h.op(OpKind::rmsnorm, {x_rows, rows.gamma}, {y_rows, rows.rstd}, NormAttributes{});
  heads.h.run(host::kernel(OpKind::rmsnorm));
  rows.h.run(host::kernel(OpKind::rmsnorm));
  EXPECT_EQ(heads.h.results(y), rows.h.results(y_rows));
}

TEST_P(KernelRows, rms_norm_backward_follows_fp64_and_does_not_depend_on_threads) {
  for (bool const add : {false, true})
    for (std::int64_t const heads : {1, 3})
      for (std::int64_t const rows : {1, 37, 200}) {
        RmsNorm n(T(), rows, heads, 83);
        auto const dy = n.in_wider(T()), x = n.in_wider(T()), dx = n.in_wider(T());
        auto const addend = add ? n.in_wider(T()) : View{};
        auto const dgamma = n.h.tensor(G(), {83});
        n.h.op(OpKind::rmsnorm_backward, {dy, x, n.gamma, n.rstd, addend}, {dx, dgamma});
        n.h.run(host::kernel(OpKind::rmsnorm_backward), 1);
        n.h.expect_close(dx, 1e-4, rounding(T()) + 1e-5);
        n.h.expect_close(dgamma, 2e-3, rounding(G()) + 1e-5);
        auto const alone = n.h.result_bytes(dgamma), dx_alone = n.h.result_bytes(dx);
        n.h.run(host::kernel(OpKind::rmsnorm_backward), 3);
        EXPECT_EQ(n.h.result_bytes(dgamma), alone);
        EXPECT_EQ(n.h.result_bytes(dx), dx_alone);
      }
}

}  // namespace
}  // namespace spillway::kernels_rows_test
