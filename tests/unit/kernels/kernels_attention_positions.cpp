// attention whose queries are the latest rows of a longer sequence, as those of a step of
// generating are, against its reference and against attention over the whole sequence.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "tests/unit/kernels/attention_case.hpp"

namespace spillway::kernels_attention_positions_test {
namespace {

using test::AttentionCase;

AttentionAttributes latest(std::int64_t queries, std::int64_t capacity) {
  return {.batch = 1,
          .queries = queries,
          .keys = capacity,
          .heads = 6,
          .kv_heads = 2,
          .head_size = 20,
          .causal = true,
          .scale = 0.25};
}

void place(AttentionCase& c, std::int64_t first) {
  c.positions = c.h.tensor(DType::i32, {c.a.queries});
  for (std::int64_t i = 0; i < c.a.queries; ++i)
    c.h.set(c.positions, i, static_cast<double>(first + i));
}

// Rows of k and v from `first` on hold NaN, as what no step has written may.
void spoil_from(AttentionCase& c, std::int64_t first) {
  for (auto const& view : {c.k, c.v})
    for (auto i = first * view.shape[1]; i < c.a.keys * view.shape[1]; ++i) c.h.set(view, i, NAN);
}

void add_bias(AttentionCase& c) {
  c.bias = c.h.tensor(DType::f32, {c.a.heads, 2 * c.a.keys - 1});
  c.h.fill_normal(c.bias, 1);
}

class Positions : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(KernelAttention, Positions, ::testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

struct Rows {
  std::int64_t queries, first, capacity;
};

TEST_P(Positions, latest_rows_match_the_reference_and_see_nothing_unwritten) {
  for (auto const& [queries, first, capacity] :
       {Rows{1, 0, 1}, Rows{1, 0, 77}, Rows{1, 66, 77}, Rows{1, 76, 77}, Rows{13, 0, 77},
        Rows{13, 50, 77}, Rows{13, 64, 77}, Rows{45, 31, 100}}) {
    for (std::int64_t const window : {0, 9}) {
      for (bool const has_bias : {false, true}) {
        auto d = latest(queries, capacity);
        d.window = window;
        AttentionCase c(d, GetParam());
        place(c, first);
        spoil_from(c, first + queries);
        if (has_bias) add_bias(c);
        c.forward(32);
        c.h.expect_close(c.o, c.tolerance, c.tolerance);
        c.h.expect_close(c.lse, 2e-5, 1e-6);
        EXPECT_TRUE(std::isfinite(c.h.result(c.o, 0))) << queries << " from " << first;
      }
    }
  }
}

// Every row of a whole sequence, by steps of several rows each.
TEST_P(Positions, steps_give_the_rows_of_the_whole_sequence) {
  constexpr std::int64_t rows = 70;
  for (std::int64_t const window : {0, 9}) {
    auto d = latest(rows, rows);
    d.window = window;
    AttentionCase whole(d, GetParam());
    whole.add_bias();  // 2 x rows - 1 distances, too
    whole.forward(32);
    auto const expected = whole.h.results(whole.o);
    for (std::int64_t const step : {1, 7, 35}) {
      d.queries = step;
      AttentionCase c(d, GetParam());
      add_bias(c);
      c.h.set_all(c.bias, whole.h.contents(whole.bias));
      c.h.set_all(c.k, whole.h.contents(whole.k));
      c.h.set_all(c.v, whole.h.contents(whole.v));
      auto const q = whole.h.contents(whole.q);
      for (std::int64_t first = 0; first < rows; first += step) {
        auto const begin = first * c.q.shape[1], n = step * c.q.shape[1];
        c.h.set_all(c.q, {q.begin() + begin, q.begin() + begin + n});
        place(c, first);
        c.forward(32);
        auto const o = c.h.results(c.o);
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_NEAR(o[static_cast<std::size_t>(i)], expected[static_cast<std::size_t>(begin + i)],
                      4 * c.tolerance)
              << "element " << i << " of the step at " << first;
      }
    }
  }
}

TEST(KernelAttention, refuses_positions_of_several_sequences) {
  auto d = latest(3, 8);
  d.batch = 2;
  AttentionCase c(d, DType::f32);
  place(c, 0);
  c.h.op(OpKind::attention, {c.q, c.k, c.v, {}, {}, {}, {}, c.positions}, {c.o, c.lse}, c.a);
  EXPECT_THROW(host::kernel(OpKind::attention).bind(c.h.context(), c.h.op()), Error);
}

}  // namespace
}  // namespace spillway::kernels_attention_positions_test
