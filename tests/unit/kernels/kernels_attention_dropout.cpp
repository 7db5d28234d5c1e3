// Dropout of attention's weights: the same in tiles of any size, in both directions and in the
// serial reference.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/kernels/attention_case.hpp"

namespace spillway::test::kernels_attention_dropout_test {
namespace {

AttentionAttributes causal(std::int64_t rows) {
  return {.batch = 2,
          .queries = rows,
          .keys = rows,
          .heads = 4,
          .kv_heads = 2,
          .head_size = 24,
          .causal = true,
          .scale = 0.2};
}

class AttentionDropout : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, AttentionDropout, testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

TEST_P(AttentionDropout, follows_the_reference_in_both_directions) {
  for (char const* isa : {"", "portable"})
    for (std::int64_t const tile : {32, 64, 256})
      for (std::int64_t const threads : {2, 5}) {
        AttentionCase c(causal(101), GetParam());
        c.h.graph().arithmetic.isa = isa;
        c.h.graph().arithmetic.threads = threads;  // few: heads whole; many: by tiles
        c.add_dropout(0.3);
        c.add_bias();
        c.forward(tile);
        c.h.expect_close(c.o, 2 * c.tolerance, 2 * c.tolerance);
        c.h.expect_close(c.lse, 1e-4, 1e-4);
        c.h.keep_results();
        c.backward(tile);
        for (auto const& view : {c.dq, c.dk, c.dv, c.d_bias})
          c.h.expect_close(view, 8 * c.tolerance, 4 * c.tolerance);
      }
}

TEST_P(AttentionDropout, follows_the_reference_with_heads_of_any_width) {
  for (std::int64_t const head_size : {64, 100, 200}) {
    AttentionCase c({.batch = 1,
                     .queries = 70,
                     .keys = 70,
                     .heads = 2,
                     .kv_heads = 1,
                     .head_size = head_size,
                     .scale = 0.1},
                    GetParam());
    c.add_dropout(0.3);
    c.forward(64);
    c.h.expect_close(c.o, 2 * c.tolerance, 2 * c.tolerance);
    c.h.keep_results();
    c.backward(64);
    for (auto const& view : {c.dq, c.dk, c.dv})
      c.h.expect_close(view, 8 * c.tolerance, 4 * c.tolerance);
  }
}

TEST(AttentionDropoutOf, nothing_changes_no_bit_and_nothing_of_the_workspace) {
  AttentionCase plain(causal(101), DType::f32), none(causal(101), DType::f32);
  none.add_dropout(0);
  plain.forward(32);
  none.forward(32);
  EXPECT_EQ(none.h.result_bytes(none.o), plain.h.result_bytes(plain.o));
  EXPECT_EQ(none.h.op().workspace_bytes, plain.h.op().workspace_bytes);
  plain.h.keep_results();
  none.h.keep_results();
  plain.backward(32);
  none.backward(32);
  EXPECT_EQ(none.h.result_bytes(none.dq), plain.h.result_bytes(plain.dq));
  EXPECT_EQ(none.h.op().workspace_bytes, plain.h.op().workspace_bytes);
}

// Equal scores: a query's weights are equal, and o counts those that are kept, if v is 1.
TEST(AttentionDropoutOf, weights_keeps_the_expected_share_and_their_mean) {
  auto shape = causal(320);
  shape.causal = false;
  AttentionCase c(shape, DType::f32);
  c.add_dropout(0.25);
  c.h.fill_normal(c.q, 0);
  c.h.fill_normal(c.v, 0, 1);
  c.forward(64);
  auto const o = c.h.results(c.o);
  double sum = 0;
  for (double const x : o) {
    double const kept = x * 0.75 * 320;
    EXPECT_NEAR(kept, std::round(kept), 1e-3);
    sum += x;
  }
  EXPECT_NEAR(sum / static_cast<double>(o.size()), 1, 0.01);
  EXPECT_NE(o[0], o[24]) << "heads draw numbers of their own";
  EXPECT_NE(o[0], o[4 * 24]) << "and so do queries";
}

TEST(AttentionDropoutOf, a_sample_does_not_depend_on_its_place_in_the_batch) {
  AttentionCase c(causal(70), DType::f32);
  c.add_dropout(0.5);
  auto const rows = std::int64_t{70} * 4 * 24;
  auto const swap_samples = [&](std::vector<double> values, std::int64_t each) {
    std::swap_ranges(values.begin(), values.begin() + each, values.begin() + each);
    return values;
  };
  c.h.set_all(c.samples, {7, 0x1p33 + 1});
  c.forward(32);
  auto const first = c.h.results(c.o);
  for (auto const& view : {c.q, c.k, c.v})
    c.h.set_all(view, swap_samples(c.h.contents(view), 70 * view.shape[1]));
  c.h.set_all(c.samples, {0x1p33 + 1, 7});
  c.forward(32);
  EXPECT_EQ(swap_samples(c.h.results(c.o), rows), first);
}

}  // namespace
}  // namespace spillway::test::kernels_attention_dropout_test
