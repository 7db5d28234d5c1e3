// relative_bias and its gradient: T5's buckets as they are known to be, and sums over them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "kernels/formulas/relative_bias.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_relative_bias_test {
namespace {

using test::KernelHarness;

// The least distances of T5's buckets 8 and up where half of 32 are for one direction (encoders),
// and of 16 and up where all are (decoders): what transformers' _relative_position_bucket gives.
constexpr std::int64_t kEncoder[] = {8, 12, 16, 23, 32, 46, 64, 91};
constexpr std::int64_t kDecoder[] = {16, 19, 21, 24, 27, 31, 35, 40,
                                     46, 52, 59, 67, 77, 87, 99, 113};

std::int64_t expected_bucket(std::int64_t ahead, bool bidirectional) {
  auto const distance = bidirectional ? std::abs(ahead) : std::max<std::int64_t>(-ahead, 0);
  std::int64_t const exact = bidirectional ? 8 : 16;
  auto bucket = std::min(distance, exact - 1);
  if (bidirectional)
    bucket += std::ranges::count_if(kEncoder, [&](auto least) { return distance >= least; });
  else
    bucket += std::ranges::count_if(kDecoder, [&](auto least) { return distance >= least; });
  return bidirectional && ahead > 0 ? 16 + bucket : bucket;
}

struct Case {
  KernelHarness h;
  View table, bias, dbias, dtable;
  RelativeBiasAttributes attributes;

  Case(std::int64_t queries, std::int64_t keys, bool bidirectional, DType type, DType gradient)
      : table(h.tensor(type, {32, 3})),
        bias(h.tensor(DType::f32, {3, queries + keys - 1})),
        dbias(h.tensor(DType::f32, bias.shape)),
        dtable(h.tensor(gradient, table.shape)),
        attributes{queries, 128, bidirectional} {
    h.fill_normal(table, 1);
    h.fill_normal(dbias, 1);
  }
};

class RelativeBias : public ::testing::TestWithParam<std::tuple<DType, DType, bool>> {};
INSTANTIATE_TEST_SUITE_P(Types, RelativeBias,
                         ::testing::Combine(::testing::Values(DType::f32, DType::bf16),
                                            ::testing::Values(DType::f32, DType::bf16),
                                            ::testing::Bool()));

TEST_P(RelativeBias, takes_every_distances_bucket_from_the_table) {
  auto const [type, gradient, bidirectional] = GetParam();
  for (auto const& [queries, keys] : {std::pair{300, 300}, {300, 7}, {7, 300}, {1, 1}}) {
    Case c(queries, keys, bidirectional, type, gradient);
    c.h.op(OpKind::relative_bias, {c.table}, {c.bias}, c.attributes);
    c.h.run(host::kernel(OpKind::relative_bias));
    c.h.expect_same_bytes(c.bias);
    auto const table = c.h.contents(c.table), bias = c.h.results(c.bias);
    auto const distances = c.bias.shape[1];
    for (std::int64_t i = 0; i < 3 * distances; ++i) {
      auto const bucket = expected_bucket(i % distances - queries + 1, bidirectional);
      ASSERT_EQ(bias[static_cast<std::size_t>(i)],
                table[static_cast<std::size_t>(bucket * 3 + i / distances)])
          << i % distances - queries + 1 << " rows ahead";
    }
  }
}

TEST_P(RelativeBias, gradient_is_the_sum_over_a_buckets_distances) {
  auto const [type, gradient, bidirectional] = GetParam();
  for (auto const& [queries, keys] : {std::pair{300, 300}, {300, 7}, {7, 300}, {1, 1}}) {
    Case c(queries, keys, bidirectional, type, gradient);
    c.h.op(OpKind::relative_bias_backward, {c.dbias}, {c.dtable}, c.attributes);
    c.h.run(host::kernel(OpKind::relative_bias_backward));
    double const relative = gradient == DType::bf16 ? 0x1p-7 : 1e-5;
    c.h.expect_close(c.dtable, 1e-5, relative);
    std::vector<double> sums(32 * 3);
    auto const dbias = c.h.contents(c.dbias), dtable = c.h.results(c.dtable);
    auto const distances = c.dbias.shape[1];
    for (std::int64_t i = 0; i < 3 * distances; ++i) {
      auto const bucket = expected_bucket(i % distances - queries + 1, bidirectional);
      sums[static_cast<std::size_t>(bucket * 3 + i / distances)] +=
          dbias[static_cast<std::size_t>(i)];
    }
    for (std::size_t i = 0; i < sums.size(); ++i)
      EXPECT_NEAR(dtable[i], sums[i], 1e-5 + relative * std::abs(sums[i])) << i;
  }
}

TEST(RelativeBiasOp, refuses_fewer_than_two_buckets_of_a_direction) {
  KernelHarness h;
  auto const table = h.tensor(DType::f32, {3, 1}), bias = h.tensor(DType::f32, {1, 9});
  h.op(OpKind::relative_bias, {table}, {bias}, RelativeBiasAttributes{5, 128, true});
  EXPECT_THROW(host::kernel(OpKind::relative_bias).bind(h.context(), h.op()), Error);
}

}  // namespace
}  // namespace spillway::kernels_relative_bias_test
