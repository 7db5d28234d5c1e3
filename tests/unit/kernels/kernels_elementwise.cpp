// add, accumulate, tree_sum, activation, gated and their gradients, select_row, store_rows, scale,
// against their serial references.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/bf16.hpp"
#include "graph/sharing.hpp"
#include "kernels/formulas/activation.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_elementwise_test {
namespace {

using test::KernelHarness;

class KernelElements : public ::testing::TestWithParam<DType> {
 protected:
  // Two neighbours among the numbers that can be stored, relative: both sides round, at times
  // apart.
  double rounding() const { return GetParam() == DType::bf16 ? 0x1p-7 : 0x1p-22; }
};
INSTANTIATE_TEST_SUITE_P(Types, KernelElements, ::testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

TEST_P(KernelElements, add_rounds_the_exact_sum_once) {
  KernelHarness h;
  auto const a = h.tensor(GetParam(), {37, 83}), b = h.tensor(GetParam(), {37, 83});
  auto const c = h.tensor(GetParam(), {37, 83});
  h.fill_normal(a, 1);
  h.fill_normal(b, 100);
  h.set(a, 5, 1);
  h.set(b, 5, 0x1p-8);  // half a bf16 ulp above 1: to even
  h.op(OpKind::add, {a, b}, {c});
  h.run(host::kernel(OpKind::add));
  h.expect_same_bytes(c);
  EXPECT_EQ(h.result(c, 5), GetParam() == DType::bf16 ? 1.0 : 1.00390625);
}

// A device reads 16 bytes at a time where it can.
TEST_P(KernelElements, lie_anywhere_and_are_of_any_number) {
  KernelHarness h;
  auto const a = h.tensor(GetParam(), {1000}), b = h.tensor(GetParam(), {1000});
  auto const c = h.tensor(GetParam(), {1000});
  h.fill_normal(a, 1);
  h.fill_normal(b, 1);
  auto const part = [](View view, std::int64_t first, std::int64_t n) {
    view.offset += first;
    view.shape = {n};
    return view;
  };
  for (std::int64_t const n : {1, 4, 7, 8, 31, 991})
    for (auto const& [at_a, at_b, at_c] : {std::array<std::int64_t, 3>{0, 0, 0},
                                           {8, 8, 8},
                                           {1, 1, 1},
                                           {1, 0, 0},
                                           {0, 1, 0},
                                           {0, 0, 1}}) {
      auto const out = part(c, at_c, n);
      h.op(OpKind::add, {part(a, at_a, n), part(b, at_b, n)}, {out});
      h.run(host::kernel(OpKind::add));
      h.expect_same_bytes(out);
    }
}

TEST_P(KernelElements, accumulate_adds_in_place) {
  KernelHarness h;
  auto const fresh = h.tensor(GetParam(), {9001}), sum = h.tensor(GetParam(), {9001});
  h.fill_normal(fresh, 1);
  h.fill_normal(sum, 1);
  h.set(fresh, 9000, 3);
  h.set(sum, 9000, 4);
  h.op(OpKind::accumulate, {fresh}, {sum});
  h.run(host::kernel(OpKind::accumulate));
  h.expect_same_bytes(sum);
  EXPECT_EQ(h.result(sum, 9000), 7);
}

TEST_P(KernelElements, tree_sum_adds_ranks_in_order_and_rounds_once) {
  KernelHarness h;
  auto const slice = 2 * kNormTile;
  auto const parts = h.tensor(GetParam(), {3, slice}), sum = h.tensor(GetParam(), {2 * slice + 99});
  h.op(OpKind::tree_sum, {parts}, {sum});
  for (int own = 0; own < 3; ++own) {
    h.fill_normal(parts, 1);
    h.fill_normal(sum, 1);
    // In rank order (2^30 + 1) - 2^30 is 0 in fp32; in another order it is 1.
    for (auto const& [rank, value] : {std::pair{0, 0x1p30}, {1, 1.0}, {2, -0x1p30}})
      rank == own ? h.set(sum, own * slice + 17, value) : h.set(parts, rank * slice + 17, value);
    h.set(parts, own * slice + 17, 5);  // not read
    h.run_as(own);
    h.run(host::kernel(OpKind::tree_sum));
    h.expect_same_bytes(sum);
    EXPECT_EQ(h.result(sum, own * slice + 17), 0);
    auto const other = own == 0 ? slice : 0;  // of another rank
    EXPECT_EQ(h.result(sum, other), h.contents(sum)[static_cast<std::size_t>(other)]);
  }
}

// (a + b) + (c + d), which the order of ranks would give another value.
TEST_P(KernelElements, tree_sum_adds_pairs_of_ranks_then_pairs_of_pairs) {
  KernelHarness h;
  auto const parts = h.tensor(GetParam(), {4, kNormTile}), sum = h.tensor(GetParam(), {99});
  h.fill_normal(parts, 1);
  h.fill_normal(sum, 1);
  h.set(sum, 17, 0x1p30);
  for (auto const& [rank, value] : {std::pair{1, 1.0}, {2, -0x1p30}, {3, 1.0}})
    h.set(parts, rank * kNormTile + 17, value);
  h.op(OpKind::tree_sum, {parts}, {sum});
  h.run(host::kernel(OpKind::tree_sum));
  h.expect_same_bytes(sum);
  EXPECT_EQ(h.result(sum, 17), 0);
}

TEST_P(KernelElements, tree_sum_of_any_number_of_ranks_is_the_same_on_both_lanes) {
  for (std::int64_t const ranks : {2, 3, 5, 6, 7, 8, 13}) {
    KernelHarness h;
    auto const parts = h.tensor(GetParam(), {ranks, kNormTile}), sum = h.tensor(GetParam(), {999});
    h.fill_normal(parts, 1);
    h.fill_normal(sum, 1);
    h.op(OpKind::tree_sum, {parts}, {sum});
    h.run(host::kernel(OpKind::tree_sum));
    h.expect_same_bytes(sum);
  }
}

// Two ranks keep each of two copies, and each rank sums half of what it keeps. What the second rank
// of a copy keeps ends with a part of a slice.
TEST_P(KernelElements, tree_sum_fills_the_part_of_what_a_rank_keeps) {
  constexpr std::int64_t kRanks = 4, slice = kNormTile;
  KernelHarness h;
  auto& chunk = h.chunk({3 * slice + 99});
  chunk.sharers = 2;
  Sharing const sharing{kRanks, chunk.sharers};
  auto const most = sharing.kept(chunk.elements, 0).count;
  auto const parts = h.tensor(GetParam(), {kRanks, slice}), sum = h.tensor(GetParam(), {most});
  h.op(OpKind::tree_sum, {parts}, {sum});
  h.op().in_place.clear();
  for (int rank = 0; rank < kRanks; ++rank) {
    h.fill_integers(parts, 1, 60);
    h.run_as(rank);
    h.run(host::kernel(OpKind::tree_sum));
    auto const own = sharing.summed_of_kept(chunk.elements, rank);
    EXPECT_EQ(own.first, rank / 2 * slice);
    View const summed{sum.tensor, own.first, {own.count}, {1}};
    h.expect_same_bytes(summed);
    std::vector<double> expected(static_cast<std::size_t>(own.count));
    auto const rows = h.contents(parts);
    for (std::size_t i = 0; i < expected.size(); ++i)
      for (std::size_t r = 0; r < kRanks; ++r) expected[i] += rows[r * slice + i];
    EXPECT_EQ(h.results(summed), expected) << rank;
  }
}

TEST_P(KernelElements, tree_sum_of_a_rank_without_a_slice_changes_nothing) {
  KernelHarness h;
  auto const parts = h.tensor(GetParam(), {3, kNormTile}), sum = h.tensor(GetParam(), {99});
  h.fill_normal(parts, 1);
  h.fill_normal(sum, 1);
  h.op(OpKind::tree_sum, {parts}, {sum});
  h.run_as(1);
  h.run(host::kernel(OpKind::tree_sum));
  EXPECT_EQ(h.results(sum), h.contents(sum));
}

constexpr Activation kForms[] = {Activation::gelu_tanh, Activation::gelu_erf, Activation::relu,
                                 Activation::silu};

// Values all over the range of the bend, and far outside it.
void fill_for_bend(KernelHarness& h, View const& f) {
  h.fill_normal(f, 3);
  std::int64_t element = 0;
  for (double const x : {0.0, -0.0, 1e-30, -1e-30, 8.0, -8.0, 60.0, -60.0, 1e4, -1e4, 1e12, -1e12})
    h.set(f, element++, x);
}

TEST_P(KernelElements, activation_follows_the_textbook_over_the_whole_range) {
  for (auto const form : kForms) {
    KernelHarness h;
    auto const f = h.tensor(GetParam(), {37, 83}), g = h.tensor(GetParam(), {37, 83});
    fill_for_bend(h, f);
    h.op(OpKind::activation, {f}, {g}, ActivationAttributes{form});
    h.run(host::kernel(OpKind::activation));
    h.expect_close(g, 1e-10, rounding() + 2e-6);
  }
}

TEST_P(KernelElements, activation_backward_follows_the_textbook_over_the_whole_range) {
  for (auto const form : kForms) {
    KernelHarness h;
    auto const f = h.tensor(GetParam(), {37, 83}), dg = h.tensor(GetParam(), {37, 83});
    auto const df = h.tensor(GetParam(), {37, 83});
    fill_for_bend(h, f);
    h.fill_normal(dg, 1);
    h.op(OpKind::activation_backward, {f, dg}, {df}, ActivationAttributes{form});
    h.run(host::kernel(OpKind::activation_backward));
    h.expect_close(df, 2e-6, rounding() + 2e-6);
  }
}

// Gate and up are columns of one product, and so are their gradients.
struct Gated {
  static constexpr std::int64_t rows = 37, columns = 83;
  KernelHarness h;
  View gate, up, y, dgate, dup;

  explicit Gated(DType t) : y(h.tensor(t, {rows, columns})) {
    auto const x = h.tensor(t, {rows, 2 * columns + 5}), dx = h.tensor(t, x.shape);
    gate = spillway::columns(x, 3, columns);
    up = spillway::columns(x, 3 + columns, columns);
    dgate = spillway::columns(dx, 3, columns);
    dup = spillway::columns(dx, 3 + columns, columns);
    h.fill_normal(x, 1);
    h.fill_normal(dx, 1);
    fill_for_bend(h, gate);
  }
};

TEST_P(KernelElements, gated_follows_the_textbook_over_the_whole_range) {
  for (auto const form : kForms) {
    Gated g(GetParam());
    g.h.op(OpKind::gated, {g.gate, g.up}, {g.y}, ActivationAttributes{form});
    g.h.run(host::kernel(OpKind::gated));
    g.h.expect_close(g.y, 1e-10, rounding() + 2e-6);
  }
}

TEST_P(KernelElements, gated_tells_gate_from_up) {
  Gated g(GetParam());
  g.h.set(g.gate, 0, -3);
  g.h.set(g.up, 0, 2);
  g.h.set(g.gate, 1, 2);
  g.h.set(g.up, 1, -3);
  g.h.op(OpKind::gated, {g.gate, g.up}, {g.y}, ActivationAttributes{Activation::relu});
  g.h.run(host::kernel(OpKind::gated));
  EXPECT_EQ(g.h.result(g.y, 0), 0);
  EXPECT_EQ(g.h.result(g.y, 1), -6);
}

TEST_P(KernelElements, gated_backward_follows_the_textbook_over_the_whole_range) {
  for (auto const form : kForms) {
    Gated g(GetParam());
    g.h.fill_normal(g.y, 1);
    g.h.op(OpKind::gated_backward, {g.gate, g.up, g.y}, {g.dgate, g.dup},
           ActivationAttributes{form});
    g.h.run(host::kernel(OpKind::gated_backward));
    g.h.expect_close(g.dgate, 1e-5, rounding() + 2e-6);
    g.h.expect_close(g.dup, 1e-10, rounding() + 2e-6);
  }
}

// Far on the negative side, where a sum with 1 would leave nothing, relative accuracy stays.
TEST(Gelu, keeps_relative_accuracy_in_the_tail) {
  for (double x = -12; x < 0; x += 1e-3) {
    float const f = static_cast<float>(x);
    double const exact = 0.5 * f * std::erfc(-f / std::sqrt(2.0));
    EXPECT_NEAR(ErfGelu::value(f) / exact, 1, 2e-6) << x;
  }
}

// The two forms differ by some 4e-4 where they differ most.
TEST(Gelu, forms_are_told_apart) {
  EXPECT_NEAR(ErfGelu::value(1.0f), 0.8413447, 1e-6);
  EXPECT_NEAR(TanhGelu::value(1.0f), 0.8411920, 1e-6);
  EXPECT_NEAR(ErfGelu::slope(1.0f), 1.0833155, 1e-6);
  EXPECT_NEAR(TanhGelu::slope(1.0f), 1.0829641, 1e-6);
}

// What has overflown must not look as if nothing was wrong.
TEST(Activations, of_what_is_not_a_number_are_none) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (float const x : {nan, -nan}) {
    EXPECT_TRUE(std::isnan(Relu::value(x)));
    EXPECT_TRUE(std::isnan(Silu::value(x)));
    EXPECT_TRUE(std::isnan(TanhGelu::value(x)));
    EXPECT_TRUE(std::isnan(ErfGelu::value(x)));
    EXPECT_TRUE(std::isnan(Silu::slope(x)));
    EXPECT_TRUE(std::isnan(TanhGelu::slope(x)));
    EXPECT_TRUE(std::isnan(ErfGelu::slope(x)));
  }
  EXPECT_EQ(Relu::value(infinity), infinity);
  EXPECT_EQ(Silu::value(infinity), infinity);
  EXPECT_EQ(TanhGelu::value(infinity), infinity);
  EXPECT_EQ(ErfGelu::value(infinity), infinity);
  EXPECT_EQ(Relu::value(-infinity), 0);
}

// A table on CPUs, a formula elsewhere: all numbers there are.
TEST(KernelTables, activation_of_bf16_gives_the_formulas_bits) {
  std::vector<double> numbers;
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits)
    numbers.push_back(to_float(bf16{static_cast<std::uint16_t>(bits)}));
  KernelHarness h;
  auto const tensor = [&] { return h.tensor(DType::bf16, {std::ssize(numbers)}); };
  auto const f = tensor(), ones = tensor(), g = tensor(), df = tensor();
  h.set_all(f, numbers);
  h.set_all(ones, std::vector<double>(numbers.size(), 1));
  auto const expect = [&](std::vector<double> const& got, auto const& formula) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      double const wanted = to_float(to_bf16(formula(static_cast<float>(numbers[i]))));
      EXPECT_TRUE(got[i] == wanted || (std::isnan(got[i]) && std::isnan(wanted))) << numbers[i];
    }
  };
  auto const expect_formulas = [&]<class Form>(Form, Activation form) {
    h.op(OpKind::activation, {f}, {g}, ActivationAttributes{form});
    h.run(host::kernel(OpKind::activation));
    expect(h.results(g), Form::value);
    h.op(OpKind::activation_backward, {f, ones}, {df}, ActivationAttributes{form});
    h.run(host::kernel(OpKind::activation_backward));
    expect(h.results(df), Form::slope);
  };
  expect_formulas(TanhGelu{}, Activation::gelu_tanh);
  expect_formulas(ErfGelu{}, Activation::gelu_erf);
  expect_formulas(Relu{}, Activation::relu);
  expect_formulas(Silu{}, Activation::silu);
}

TEST_P(KernelElements, select_row_picks_the_row_that_its_operand_names) {
  KernelHarness h;
  auto const x = h.tensor(GetParam(), {37, 83}), position = h.tensor(DType::i32, {1});
  auto const row = h.tensor(GetParam(), {1, 83});
  h.fill_normal(x, 1);
  h.op(OpKind::select_row, {x, position}, {row});
  for (int const wanted : {0, 36}) {
    h.set(position, 0, wanted);
    h.run(host::kernel(OpKind::select_row));
    h.expect_same_bytes(row);
    EXPECT_EQ(h.result(row, 82), h.contents(x)[static_cast<std::size_t>(wanted * 83 + 82)]);
  }
}

TEST_P(KernelElements, store_rows_writes_the_rows_that_its_operand_names_and_no_other) {
  KernelHarness h;
  auto const wide = h.tensor(GetParam(), {5, 200}), cache = h.tensor(GetParam(), {37, 83});
  auto const x = columns(wide, 100, 83), positions = h.tensor(DType::i32, {5});
  h.fill_normal(wide, 1);
  h.fill_normal(cache, 1);
  h.op(OpKind::store_rows, {x, positions}, {cache}, {}, {0});
  for (int const first : {0, 13, 32}) {
    for (int i = 0; i < 5; ++i) h.set(positions, i, first + i);
    h.run(host::kernel(OpKind::store_rows));
    h.expect_same_bytes(cache);
    auto expected = h.contents(cache);
    std::ranges::copy(h.contents(x), expected.begin() + first * 83);
    EXPECT_EQ(h.results(cache), expected);
  }
}

TEST_P(KernelElements, scale_multiplies_by_its_factor) {
  KernelHarness h;
  auto const x = h.tensor(GetParam(), {37, 83}), y = h.tensor(GetParam(), {37, 83});
  h.fill_normal(x, 1);
  h.op(OpKind::scale, {x}, {y}, ScaleAttributes{0.25});
  h.run(host::kernel(OpKind::scale));
  h.expect_same_bytes(y);
  for (std::int64_t i = 0; i < 37 * 83; ++i)
    EXPECT_EQ(h.result(y, i), 0.25 * h.contents(x)[static_cast<std::size_t>(i)]);
}

// A hundredth is rounded in bf16, by more than the product may be.
TEST_P(KernelElements, scale_does_not_round_its_factor_to_the_type_of_elements) {
  KernelHarness h;
  auto const x = h.tensor(GetParam(), {37, 83}), y = h.tensor(GetParam(), {37, 83});
  h.fill_normal(x, 1);
  h.op(OpKind::scale, {x}, {y}, ScaleAttributes{0.01});
  h.run(host::kernel(OpKind::scale));
  h.expect_same_bytes(y);
  auto const from = h.contents(x);
  for (std::int64_t i = 0; i < 37 * 83; ++i) {
    float const product = 0.01f * static_cast<float>(from[static_cast<std::size_t>(i)]);
    EXPECT_EQ(h.result(y, i), GetParam() == DType::bf16 ? to_float(store<bf16>(product)) : product);
  }
}

TEST_P(KernelElements, column_sum_does_not_depend_on_threads) {
  KernelHarness h;
  auto const wide = h.tensor(GetParam(), {1037, 200});
  auto const db = h.tensor(DType::f32, {83});
  h.fill_normal(wide, 1);
  auto const dy = columns(wide, 70, 83);
  h.op(OpKind::column_sum, {dy}, {db});
  h.run(host::kernel(OpKind::column_sum), 1);
  h.expect_close(db, 1e-4, 1e-6);
  auto const alone = h.result_bytes(db);
  h.run(host::kernel(OpKind::column_sum), 3);
  EXPECT_EQ(h.result_bytes(db), alone);
}

TEST_P(KernelElements, column_sum_of_one_row_is_that_row) {
  KernelHarness h;
  auto const dy = h.tensor(GetParam(), {1, 83}), db = h.tensor(GetParam(), {83});
  h.fill_normal(dy, 1);
  h.op(OpKind::column_sum, {dy}, {db});
  h.run(host::kernel(OpKind::column_sum));
  EXPECT_EQ(h.results(db), h.contents(dy));
}

}  // namespace
}  // namespace spillway::kernels_elementwise_test
