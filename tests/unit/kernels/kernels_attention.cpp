// attention and its backward against their serial references on odd sizes; the reference's gradient
// against finite differences of its forward.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "tests/unit/kernels/attention_case.hpp"

namespace spillway::kernels_attention_test {
namespace {

AttentionAttributes small() {
  return {.batch = 2,
          .queries = 37,
          .keys = 37,
          .heads = 3,
          .kv_heads = 1,
          .head_size = 20,
          .causal = true,
          .scale = 0.25};
}

struct AttentionCase : test::AttentionCase {
  using test::AttentionCase::AttentionCase;

  void expect_forward_and_backward_match(std::int64_t tile) {
    forward(tile);
    h.expect_close(o, tolerance, tolerance);
    h.expect_close(lse, 2e-5, 1e-6);
    h.keep_results();
    backward(tile);
    for (auto const& gradient : {dq, dk, dv}) h.expect_close(gradient, 4 * tolerance, tolerance);
  }
};

class EachType : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(KernelAttention, EachType, ::testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

TEST_P(EachType, grouped_causal_attention_on_odd_sizes_matches_the_reference) {
  for (std::int64_t const tile : {16, 10, 64})
    AttentionCase(small(), GetParam()).expect_forward_and_backward_match(tile);
}

TEST_P(EachType, attention_without_mask_matches_the_reference) {
  auto d = small();
  d.causal = false;
  d.kv_heads = 3;
  AttentionCase(d, GetParam()).expect_forward_and_backward_match(16);
}

TEST_P(EachType, attention_in_a_window_matches_the_reference) {
  for (std::int64_t const window : {1, 7, 40}) {
    auto d = small();
    d.window = window;
    AttentionCase(d, GetParam()).expect_forward_and_backward_match(16);
  }
}

// Whole and partial tiles and panels, before, on and behind the diagonal.
TEST_P(EachType, attention_over_several_tiles_matches_the_reference) {
  for (std::int64_t const window : {0, 45, 100}) {
    auto d = small();
    d.queries = d.keys = 167;
    d.kv_heads = 3;
    d.head_size = 32;
    d.window = window;
    for (std::int64_t const tile : {32, 64, 96})
      AttentionCase(d, GetParam()).expect_forward_and_backward_match(tile);
  }
}

TEST_P(EachType, attention_of_one_row_matches_the_reference) {
  auto d = small();
  d.queries = d.keys = 1;
  AttentionCase(d, GetParam()).expect_forward_and_backward_match(64);
}

TEST(KernelAttention, unequal_queries_and_keys_match_the_reference) {
  auto d = small();
  d.causal = false;
  d.queries = 21;
  for (int const threads : {2, 64}) {  // gradients are made by heads, and by tiles
    AttentionCase c(d, DType::f32);
    c.h.graph().arithmetic.threads = threads;
    c.expect_forward_and_backward_match(16);
  }
}

// Scores of several hundred: exponentials overflow unless the row's maximum is taken off first.
TEST(KernelAttention, survives_large_scores) {
  AttentionCase c(small(), DType::f32, 12);
  c.forward(16);
  c.h.expect_close(c.o, 2e-3, 1e-3);
  c.h.expect_close(c.lse, 1e-3, 1e-5);
  auto const o = c.h.results(c.o);
  EXPECT_TRUE(std::all_of(o.begin(), o.end(), [](double x) { return std::isfinite(x); }));
}

// Keys and values that come later, however large, change no bit of an earlier row.
TEST(KernelAttention, later_keys_change_no_earlier_row) {
  auto d = small();
  d.batch = 1;
  AttentionCase c(d, DType::f32);
  c.forward(16);
  auto const before = c.h.results(c.o);
  for (std::int64_t i = 32 * d.head_size; i < 37 * d.head_size; ++i) {  // rows 32 to 36
    c.h.set(c.k, i, 1000.0);
    c.h.set(c.v, i, 1e6);
  }
  c.forward(16);
  auto const after = c.h.results(c.o);
  auto const past = static_cast<std::ptrdiff_t>(32 * d.heads * d.head_size);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + past, after.begin()));
  EXPECT_NE(before, after);
}

// With many threads the gradients of a head are divided by tiles, too.
TEST(KernelAttention, gives_the_same_bits_on_any_number_of_threads) {
  auto d = small();
  d.queries = d.keys = 150;
  d.window = 90;
  auto const bits = [&](int threads) {
    AttentionCase c(d, DType::bf16);
    c.add_bias();
    c.h.graph().arithmetic.threads = threads;
    c.forward(32);
    c.h.keep_results();
    auto all = c.h.results(c.o);
    c.backward(32);
    for (auto const& gradient : {c.dq, c.dk, c.dv, c.d_bias})
      for (auto const x : c.h.results(gradient)) all.push_back(x);
    return all;
  };
  auto const alone = bits(1);
  for (int const threads : {2, 3, 64}) EXPECT_EQ(bits(threads), alone) << threads;
}

// d/dx of sum(o * do) by central differences of the fp64 reference.
TEST(KernelAttention, gradient_is_the_slope_of_the_forward_pass) {
  AttentionAttributes const d{.batch = 1,
                              .queries = 5,
                              .keys = 5,
                              .heads = 2,
                              .kv_heads = 1,
                              .head_size = 3,
                              .causal = true,
                              .scale = 0.6};
  AttentionCase c(d, DType::f32);
  c.add_bias();
  c.forward(16);
  c.h.keep_results();
  c.backward(16);
  auto const d_o = c.h.contents(c.d_o);
  auto const objective = [&] {
    c.forward(16);
    auto const o = c.h.serial_results(c.o);
    double sum = 0;
    for (std::size_t i = 0; i < o.size(); ++i) sum += o[i] * d_o[i];
    return sum;
  };
  std::vector<double> const gradients[] = {c.h.results(c.dq), c.h.results(c.dk), c.h.results(c.dv),
                                           c.h.results(c.d_bias)};
  View const inputs[] = {c.q, c.k, c.v, c.bias};
  constexpr double step = 1e-2;
  for (std::size_t which = 0; which < 4; ++which)
    for (std::size_t i = 0; i < gradients[which].size(); ++i) {
      auto const at = static_cast<std::int64_t>(i);
      double const x = c.h.contents(inputs[which])[i];
      c.h.set(inputs[which], at, x + step);
      double const above = objective();
      c.h.set(inputs[which], at, x - step);
      double const below = objective();
      c.h.set(inputs[which], at, x);
      EXPECT_NEAR(gradients[which][i], (above - below) / (2 * step), 1e-3) << which << ", " << i;
    }
}

TEST(KernelAttention, refuses_what_it_does_not_offer) {
  auto const refuses = [](AttentionAttributes const& d, bool half_of_segments = false) {
    AttentionCase c(d, DType::f32);
    if (half_of_segments) c.segments_q = c.h.tensor(DType::i32, {d.batch * d.queries});
    c.h.op(OpKind::attention, {c.q, c.k, c.v, c.segments_q, {}, {}, {}, {}}, {c.o, c.lse}, c.a);
    c.h.op().name = "h.3/attention";
    try {
      host::kernel(OpKind::attention).bind(c.h.context(), c.h.op());
    } catch (Error const& error) {
      return std::string(error.what()).starts_with("h.3/attention: attention with ");
    }
    return false;
  };
  auto window = small(), unequal = small();
  window.causal = false;
  window.window = 8;
  EXPECT_FALSE(refuses(window));
  EXPECT_TRUE(refuses(window, true));
  window.queries = 20;
  unequal.queries = 20;
  EXPECT_TRUE(refuses(window));
  EXPECT_TRUE(refuses(unequal));
  auto dropping = small();
  dropping.dropout = 0.1;
  EXPECT_TRUE(refuses(dropping)) << "without samples";
}

}  // namespace
}  // namespace spillway::kernels_attention_test
