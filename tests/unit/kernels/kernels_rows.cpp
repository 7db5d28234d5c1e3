// embed, layernorm, rmsnorm, dropout and their gradients, against their serial references.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_rows_test {
namespace {

using test::KernelHarness;

struct Types {
  DType element, gradient;
};

class KernelRows : public ::testing::TestWithParam<Types> {
 protected:
  DType T() const { return GetParam().element; }
  DType G() const { return GetParam().gradient; }
  // Two neighbours among the numbers that can be stored, relative: both sides round, at times
  // apart.
  static double rounding(DType t) { return t == DType::bf16 ? 0x1p-7 : 0x1p-22; }
};
INSTANTIATE_TEST_SUITE_P(Types, KernelRows,
                         ::testing::Values(Types{DType::f32, DType::f32},
                                           Types{DType::bf16, DType::f32},
                                           Types{DType::bf16, DType::bf16}),
                         [](auto const& info) {
                           return std::string(name(info.param.element)) + "_" +
                                  std::string(name(info.param.gradient));
                         });

// Which of the operands that an embedding may do without it has.
struct EmbedOperands {
  bool wpe, positions, wtt, types;
};
constexpr EmbedOperands kEmbedOperands[] = {
    {true, false, false, false}, {false, false, false, false}, {true, true, false, false},
    {true, false, true, false},  {true, true, true, true},     {false, false, true, true}};

struct Embed {
  KernelHarness h;
  View tokens, positions, types;

  explicit Embed(EmbedOperands has)
      : tokens(numbers(300)), positions(numbers(40)), types(numbers(3)) {
    h.set(tokens, 0, 299);
    h.set(positions, 0, 39);
    h.set(types, 0, 2);
    if (!has.positions) positions = {};
    if (!has.types) types = {};
  }

 private:
  View numbers(std::int64_t past) {
    auto const view = h.tensor(DType::i32, {38});
    h.fill_integers(view, 0, past);
    return view;
  }
};

TEST_P(KernelRows, embed_adds_the_rows_of_its_tables) {
  for (auto const& has : kEmbedOperands) {
    Embed e(has);
    auto& h = e.h;
    auto const wte = h.tensor(T(), {300, 83}), x = h.tensor(T(), {38, 83});
    auto const wpe = h.tensor(T(), {40, 83}), wtt = h.tensor(T(), {3, 83});
    for (auto const& view : {wte, wpe, wtt}) h.fill_normal(view, 1);
    h.op(OpKind::embed,
         {e.tokens, wte, has.wpe ? wpe : View{}, e.positions, e.types, has.wtt ? wtt : View{}}, {x},
         EmbedAttributes{19});
    h.run(host::kernel(OpKind::embed));
    h.expect_same_bytes(x);
    double expected = h.contents(wte)[299 * 83];
    if (has.wpe) expected += h.contents(wpe)[has.positions ? 39 * 83 : 0];
    if (has.wtt) expected += h.contents(wtt)[has.types ? 2 * 83 : 0];
    EXPECT_NEAR(h.result(x, 0), expected, 0.05);
  }
}

TEST_P(KernelRows, embed_backward_sums_in_order_over_what_took_a_row) {
  for (auto const& has : kEmbedOperands) {
    Embed e(has);
    auto& h = e.h;
    auto const dx = h.tensor(T(), {38, 83});
    View const dwte = h.tensor(G(), {300, 83});
    View const dwpe = has.wpe ? h.tensor(G(), {40, 83}) : View{};
    View const dwtt = has.wtt ? h.tensor(G(), {3, 83}) : View{};
    h.fill_normal(dx, 1);
    h.op(OpKind::embed_backward, {e.tokens, dx, e.positions, e.types}, {dwte, dwpe, dwtt},
         EmbedAttributes{19});
    h.run(host::kernel(OpKind::embed_backward));
    for (auto const& table : {dwte, dwpe, dwtt})
      if (is_present(table)) h.expect_same_bytes(table);
    if (has.wtt && !has.types) {
      EXPECT_EQ(h.result(dwtt, 83), 0) << "no row is of type 1";
    }
  }
}

struct EmbedBackward {
  KernelHarness h;
  View tokens, dx, dwte, dwpe;

  EmbedBackward(DType t, DType g, bool accumulate)
      : tokens(h.tensor(DType::i32, {38})),
        dx(h.tensor(t, {38, 83})),
        dwte(h.tensor(g, {600, 83})),
        dwpe(h.tensor(g, {40, 83})) {
    h.fill_integers(tokens, 0, 600);
    for (auto const m : {0, 5, 6, 37}) h.set(tokens, m, 599);  // again and again, the last one
    h.set(tokens, 1, 0);
    h.fill_normal(dx, 1);
    if (accumulate) h.fill_normal(dwte, 1);
    h.op(OpKind::embed_backward, {tokens, dx, {}, {}}, {dwte, dwpe, {}}, EmbedAttributes{19},
         accumulate ? std::vector{0} : std::vector<int>{});
    h.run(host::kernel(OpKind::embed_backward));
  }
};

TEST_P(KernelRows, embed_backward_sums_repeated_tokens_in_order_and_zeroes_the_rest) {
  EmbedBackward e(T(), G(), false);
  e.h.expect_same_bytes(e.dwte);
  e.h.expect_same_bytes(e.dwpe);
  EXPECT_EQ(e.h.result(e.dwpe, 19 * 83), 0) << "positions beyond the sequence get no gradient";
}

TEST_P(KernelRows, embed_backward_adds_to_what_a_shared_head_wrote) {
  EmbedBackward e(T(), G(), true);
  e.h.expect_same_bytes(e.dwte);
  auto const dx = e.h.contents(e.dx);
  double const sum = dx[0] + dx[5 * 83] + dx[6 * 83] + dx[37 * 83];
  EXPECT_NEAR(e.h.result(e.dwte, 599 * 83), e.h.contents(e.dwte)[599 * 83] + sum, 0.05);
}

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

struct Dropout {
  KernelHarness h;
  View x, samples, y;

  Dropout(DType t, double p, std::int64_t columns, std::uint64_t seed = (1ull << 40) + 3)
      : x(h.tensor(t, {3 * 19, columns})),
        samples(h.tensor(DType::i64, {3})),
        y(h.tensor(t, {3 * 19, columns})) {
    h.fill_normal(x, 1);
    h.set_all(samples, {7, 0x1p33 + 1, 12});
    h.op(OpKind::dropout, {x, samples}, {y}, DropoutAttributes{p, 19, seed, 11});
    h.run(host::kernel(OpKind::dropout));
  }
};

TEST_P(KernelRows, dropout_is_the_same_by_blocks_and_by_elements) {
  for (std::int64_t const columns : {1, 83, 1024}) {  // partial blocks, whole blocks, several tiles
    Dropout d(T(), 0.3, columns);
    d.h.expect_close(d.y, 0, 0);
  }
}

TEST_P(KernelRows, dropout_keeps_the_expected_share_and_nothing_is_lost_at_zero) {
  Dropout d(T(), 0.25, 1024);
  auto const y = d.h.results(d.y);
  auto const zeros = static_cast<double>(std::count(y.begin(), y.end(), 0.0));
  EXPECT_NEAR(zeros / static_cast<double>(y.size()), 0.25, 0.01);
  Dropout none(T(), 0, 83);
  EXPECT_EQ(none.h.results(none.y), none.h.contents(none.x));
}

TEST_P(KernelRows, dropout_divides_what_it_keeps_by_the_share_that_stays) {
  Dropout d(T(), 0.75, 83);
  auto const n = static_cast<std::size_t>(3 * 19 * 83);
  d.h.set_all(d.x, std::vector<double>(n, 1.5));
  d.h.run(host::kernel(OpKind::dropout));
  for (auto const& y : {d.h.results(d.y), d.h.serial_results(d.y)}) {
    auto const kept = static_cast<std::size_t>(std::count(y.begin(), y.end(), 6.0));
    auto const dropped = static_cast<std::size_t>(std::count(y.begin(), y.end(), 0.0));
    EXPECT_EQ(kept + dropped, n);
    EXPECT_LT(kept, dropped);
    EXPECT_GT(kept, 0u);
  }
}

TEST_P(KernelRows, dropout_follows_every_bit_of_the_seed) {
  Dropout a(T(), 0.5, 83, 1ull << 63), b(T(), 0.5, 83, (1ull << 63) + 1), c(T(), 0.5, 83, 0);
  EXPECT_NE(a.h.results(a.y), b.h.results(b.y));
  EXPECT_NE(a.h.results(a.y), c.h.results(c.y));
}

TEST_P(KernelRows, dropout_follows_the_sample_not_its_place_in_the_batch) {
  Dropout d(T(), 0.5, 83);
  auto const first = d.h.results(d.y);
  auto x = d.h.contents(d.x);
  auto const sample = static_cast<std::ptrdiff_t>(19 * 83);
  std::swap_ranges(x.begin(), x.begin() + sample, x.begin() + 2 * sample);
  d.h.set_all(d.x, x);
  d.h.set_all(d.samples, {12, 0x1p33 + 1, 7});
  d.h.run(host::kernel(OpKind::dropout));
  auto second = d.h.results(d.y);
  std::swap_ranges(second.begin(), second.begin() + sample, second.begin() + 2 * sample);
  EXPECT_EQ(second, first);
}

}  // namespace
}  // namespace spillway::kernels_rows_test
