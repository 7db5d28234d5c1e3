// Sums over rows have an order that the shape alone decides, and with it bits, wherever they are
// computed. The order is written down here once more, and held to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/math.hpp"
#include "kernels/portable/host_row.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_order_test {
namespace {

using test::KernelHarness;

struct Extent {
  std::int64_t rows, columns;
};

// Partitions of 32 rows, or more if there were over 256, are summed in ascending order; then their
// sums are. `add(sum, row)` adds what a row has.
template <class Add>
float sum_of_rows(std::int64_t rows, Add const& add) {
  auto const each = std::max<std::int64_t>(32, div_ceil<std::int64_t>(rows, 256));
  float total = 0;
  for (std::int64_t first = 0; first < rows; first += each) {
    float partial = 0;
    for (auto row = first; row < std::min(first + each, rows); ++row) add(partial, row);
    total += partial;
  }
  return total;
}

class OrderOfSums : public ::testing::TestWithParam<Extent> {
 protected:
  std::int64_t const rows = GetParam().rows, columns = GetParam().columns;
  KernelHarness h;

  View normal(Shape shape, double mean = 0) {
    auto const view = h.tensor(DType::f32, std::move(shape));
    h.fill_normal(view, 1, mean);
    return view;
  }
  View result(Shape shape) { return h.tensor(DType::f32, std::move(shape)); }
  std::vector<float> values(View const& view) const {
    auto const wide = h.contents(view);
    return {wide.begin(), wide.end()};
  }
  void expect_bits(View const& view, std::vector<float> const& expected) const {
    auto const computed = h.results(view);
    ASSERT_EQ(computed.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(computed[i], double{expected[i]}) << "element " << i;
  }
  template <class Add>
  std::vector<float> sums_of_rows(std::int64_t n, std::int64_t width, Add const& add) const {
    std::vector<float> sums;
    for (std::int64_t j = 0; j < width; ++j)
      sums.push_back(
          sum_of_rows(n, [&](float& sum, std::int64_t row) { add(sum, at(row, width) + j, row); }));
    return sums;
  }
  static std::int64_t at(std::int64_t row, std::int64_t width) { return row * width; }
};
INSTANTIATE_TEST_SUITE_P(Of, OrderOfSums,
                         ::testing::Values(Extent{31, 70}, Extent{100, 70}, Extent{8225, 2}),
                         [](auto const& of) {
                           return std::to_string(of.param.rows) + "_rows_of_" +
                                  std::to_string(of.param.columns);
                         });

TEST_P(OrderOfSums, of_a_bias_gradient) {
  auto const whole = normal({rows, columns + 3});
  auto const dy = spillway::columns(whole, 1, columns);
  auto const db = result({columns});
  h.op(OpKind::column_sum, {dy}, {db});
  h.run(host::kernel(OpKind::column_sum));
  auto const x = values(dy);
  expect_bits(db, sums_of_rows(rows, columns, [&](float& sum, std::int64_t i, std::int64_t) {
                sum += x[static_cast<std::size_t>(i)];
              }));
}

TEST_P(OrderOfSums, of_a_layernorms_gradients) {
  auto const dy = normal({rows, columns}), x = normal({rows, columns}), gamma = normal({columns});
  auto const mean = normal({rows}), rstd = normal({rows}, 2), addend = normal({rows, columns});
  auto const dx = result({rows, columns}), dgamma = result({columns}), dbeta = result({columns});
  auto const g = values(dy), f = values(x), scale = values(gamma), m = values(mean),
             r = values(rstd), more = values(addend);
  auto const u = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  auto const h_of = [&](std::int64_t i, std::int64_t row) {
    return (f[u(i)] - m[u(row)]) * r[u(row)];
  };
  for (bool const has_addend : {false, true}) {
    h.op(OpKind::layernorm_backward, {dy, x, gamma, mean, rstd, has_addend ? addend : View{}},
         {dx, dgamma, dbeta});
    h.run(host::kernel(OpKind::layernorm_backward));
    expect_bits(dgamma, sums_of_rows(rows, columns, [&](float& sum, auto i, auto row) {
                  sum = std::fma(g[u(i)], h_of(i, row), sum);
                }));
    expect_bits(dbeta,
                sums_of_rows(rows, columns, [&](float& sum, auto i, auto) { sum += g[u(i)]; }));
    std::vector<float> expected;
    for (std::int64_t row = 0; row < rows; ++row) {
      auto const d = [&](std::int64_t j) { return g[u(row * columns + j)] * scale[u(j)]; };
      auto const dh = [&](std::int64_t j) { return d(j) * h_of(row * columns + j, row); };
      auto const n = static_cast<float>(columns);
      float const d_mean = sum_in_lanes<float>(columns, d) / n;
      float const dh_mean = sum_in_lanes<float>(columns, dh) / n;
      for (std::int64_t j = 0; j < columns; ++j) {
        auto const i = row * columns + j;
        float const slope = r[u(row)] * (std::fma(-h_of(i, row), dh_mean, d(j)) - d_mean);
        expected.push_back(has_addend ? slope + more[u(i)] : slope);
      }
    }
    expect_bits(dx, expected);
  }
}

// A row has two heads, each of which counts as a row.
TEST_P(OrderOfSums, of_an_rmsnorms_gradients) {
  auto const dy = normal({rows, 2 * columns}), x = normal({rows, 2 * columns});
  auto const gamma = normal({columns}), rstd = normal({rows, 2}, 2);
  auto const dx = result({rows, 2 * columns}), dgamma = result({columns});
  auto const g = values(dy), f = values(x), scale = values(gamma), r = values(rstd);
  auto const u = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  h.op(OpKind::rmsnorm_backward, {dy, x, gamma, rstd, {}}, {dx, dgamma});
  h.run(host::kernel(OpKind::rmsnorm_backward));
  expect_bits(dgamma, sums_of_rows(2 * rows, columns, [&](float& sum, auto i, auto head) {
                sum = std::fma(g[u(i)], f[u(i)] * r[u(head)], sum);
              }));
  std::vector<float> expected;
  for (std::int64_t head = 0; head < 2 * rows; ++head) {
    auto const h_of = [&](std::int64_t j) { return f[u(head * columns + j)] * r[u(head)]; };
    auto const d = [&](std::int64_t j) { return g[u(head * columns + j)] * scale[u(j)]; };
    float const dh_mean =
        sum_in_lanes<float>(columns, [&](std::int64_t j) { return d(j) * h_of(j); }) /
        static_cast<float>(columns);
    for (std::int64_t j = 0; j < columns; ++j)
      expected.push_back(r[u(head)] * std::fma(-h_of(j), dh_mean, d(j)));
  }
  expect_bits(dx, expected);
}

// If any order gave the same bits, the tests above would hold nothing.
TEST(OrderOfSumsOfRows, shows_in_their_bits) {
  KernelHarness h;
  auto const x = h.tensor(DType::f32, {8225});
  h.fill_normal(x, 1);
  auto values = h.contents(x);
  auto const sum = [&] {
    return sum_of_rows(8225, [&](float& partial, std::int64_t row) {
      partial += static_cast<float>(values[static_cast<std::size_t>(row)]);
    });
  };
  float const before = sum();
  std::swap(values[0], values[8224]);
  EXPECT_NE(sum(), before);
}

}  // namespace
}  // namespace spillway::kernels_order_test
