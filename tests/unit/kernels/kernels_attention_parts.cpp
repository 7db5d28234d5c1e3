// Parts of attention by themselves: its attributes as kernels have them, which tiles of documents
// are passed over, the same bits of dropped weights however the work is divided, and that what is
// not finite shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/host/attention_scores.hpp"
#include "kernels/pointers.hpp"
#include "tests/unit/kernels/attention_case.hpp"

namespace spillway::kernels_attention_parts_test {
namespace {

using test::AttentionCase;
using test::KernelHarness;

// Of an op that has samples and, where it is said, positions.
host::AttentionShape shape_of(AttentionAttributes const& a, OpKind kind, std::int64_t threads,
                              bool has_positions = false) {
  KernelHarness h;
  h.graph().arithmetic.threads = threads;
  auto const some = h.tensor(DType::f32, {1, 1}), samples = h.tensor(DType::i64, {a.batch});
  auto const positions = has_positions ? h.tensor(DType::i32, {a.queries}) : View{};
  if (kind == OpKind::attention)
    h.op(kind, {some, some, some, {}, {}, {}, samples, positions}, {some, some}, a);
  else
    h.op(kind, {some, some, some, some, some, some, {}, {}, {}, samples}, {some, some, some, {}},
         a);
  return host::attention_shape(h.context(), h.op());
}

constexpr AttentionAttributes kCross = {.batch = 2,
                                        .queries = 70,
                                        .keys = 130,
                                        .heads = 6,
                                        .kv_heads = 3,
                                        .head_size = 20,
                                        .scale = 0.25,
                                        .tile = 40,
                                        .dropout = 0.125,
                                        .seed = (std::uint64_t{1} << 40) + 9,
                                        .origin = 11};

TEST(AttentionShape, has_every_attribute_in_its_place) {
  for (auto const kind : {OpKind::attention, OpKind::attention_backward}) {
    auto const s = shape_of(kCross, kind, 7);
    EXPECT_EQ(s.batch, 2);
    EXPECT_EQ(s.queries, 70);
    EXPECT_EQ(s.keys, 130);
    EXPECT_EQ(s.heads, 6);
    EXPECT_EQ(s.kv_heads, 3);
    EXPECT_EQ(s.head_size, 20);
    EXPECT_EQ(s.scale, 0.25f);
    EXPECT_EQ(s.dropout, 0.125f);
    EXPECT_EQ(s.seed, 1099511627785u);
    EXPECT_EQ(s.origin, 11u);
    EXPECT_EQ(s.workers, 7);
    EXPECT_EQ(s.places, 70);
    EXPECT_EQ(s.first_query, 0);
    EXPECT_EQ(s.distances(), 199);
    EXPECT_EQ(s.group(), 2);
  }
  EXPECT_EQ(shape_of(kCross, OpKind::attention, 0).workers, 1);
}

TEST(AttentionShape, has_tiles_of_whole_panels_and_none_beyond_its_rows) {
  auto const s = shape_of(kCross, OpKind::attention, 1);
  EXPECT_EQ(s.tile, 64);
  EXPECT_EQ(s.width, 32);
  EXPECT_EQ(s.query_tiles(), 2);
  EXPECT_EQ(s.key_tiles(), 3);
  auto larger = kCross;
  larger.tile = 256;
  EXPECT_EQ(shape_of(larger, OpKind::attention, 1).tile, 160) << "the keys' whole panels";
  larger.keys = 3;
  EXPECT_EQ(shape_of(larger, OpKind::attention, 1).tile, 96) << "the queries'";
}

TEST(AttentionShape, says_how_far_a_query_sees) {
  constexpr std::int64_t far = std::int64_t{1} << 60;
  auto a = kCross;
  a.queries = a.keys;
  auto const reach = [&](bool causal, std::int64_t window) {
    a.causal = causal;
    a.window = window;
    auto const s = shape_of(a, OpKind::attention, 1);
    return std::pair(s.behind, s.ahead);
  };
  EXPECT_GT(reach(false, 0).first, far);
  EXPECT_GT(reach(false, 0).second, far);
  EXPECT_GT(reach(true, 0).first, far);
  EXPECT_EQ(reach(true, 0).second, 0);
  EXPECT_EQ(reach(false, 9), std::pair(std::int64_t{8}, std::int64_t{8}));
  EXPECT_EQ(reach(true, 9), std::pair(std::int64_t{8}, std::int64_t{0}));
  EXPECT_EQ(reach(true, 1), std::pair(std::int64_t{0}, std::int64_t{0}));
}

TEST(AttentionShape, of_latest_rows_has_the_places_of_all_keys) {
  auto a = kCross;
  a.batch = 1;
  a.queries = 3;
  a.causal = true;
  auto const s = shape_of(a, OpKind::attention, 1, true);
  EXPECT_EQ(s.places, 130);
  EXPECT_EQ(s.distances(), 259);
  std::int32_t const positions[] = {41, 42, 43};
  EXPECT_EQ(s.placed(positions).first_query, 41);
  EXPECT_EQ(s.placed(nullptr).first_query, 0);
}

// Two sequences of four queries and three keys.
Pointers<OpKind::attention, float> segments(std::int32_t const* queries, std::int32_t const* keys) {
  Pointers<OpKind::attention, float> o{};
  o.segments_q = queries;
  o.segments_k = keys;
  return o;
}

TEST(Segments, that_have_no_number_in_common_are_passed_over) {
  host::AttentionShape shape{};
  shape.queries = 4, shape.keys = 3;
  std::int32_t queries[] = {0, 0, 1, 1, -1, -2, 5, 7}, keys[] = {1, 1, 2, 5, -1, 6};
  auto const operands = segments(queries, keys);
  host::Scores const scores(operands, shape);
  EXPECT_FALSE(scores.may_meet(0, {0, 2}, {0, 3}));
  EXPECT_TRUE(scores.may_meet(0, {0, 3}, {0, 3}));
  EXPECT_TRUE(scores.may_meet(0, {2, 4}, {0, 1}));
  EXPECT_FALSE(scores.may_meet(0, {2, 4}, {2, 3}));
  EXPECT_FALSE(scores.may_meet(1, {0, 2}, {0, 3})) << "queries of padding alone";
  EXPECT_FALSE(scores.may_meet(1, {2, 4}, {1, 2})) << "keys of padding alone";
  EXPECT_TRUE(scores.may_meet(1, {2, 3}, {0, 1}));
  EXPECT_FALSE(scores.may_meet(1, {2, 3}, {1, 3}));
  EXPECT_TRUE(scores.may_meet(1, {2, 4}, {2, 3})) << "6 lies between 5 and 7";
  EXPECT_TRUE(host::Scores(segments(nullptr, nullptr), shape).may_meet(1, {0, 2}, {1, 2}));
}

TEST(Segments, of_the_largest_number_meet) {
  host::AttentionShape shape{};
  shape.queries = shape.keys = 1;
  std::int32_t largest[] = {std::numeric_limits<std::int32_t>::max()};
  std::int32_t one_less[] = {std::numeric_limits<std::int32_t>::max() - 1};
  auto const same = segments(largest, largest);
  auto const others = segments(largest, one_less);
  EXPECT_TRUE(host::Scores(same, shape).may_meet(0, {0, 1}, {0, 1}));
  EXPECT_FALSE(host::Scores(others, shape).may_meet(0, {0, 1}, {0, 1}));
}

// With many threads a head's gradients are made by tiles, of queries and then of keys.
TEST(AttentionOfEverything, gives_the_same_bits_on_any_number_of_threads) {
  auto const bits = [](int threads) {
    AttentionCase c({.batch = 2,
                     .queries = 101,
                     .keys = 101,
                     .heads = 4,
                     .kv_heads = 2,
                     .head_size = 24,
                     .causal = true,
                     .scale = 0.2},
                    DType::bf16);
    c.h.graph().arithmetic.threads = threads;
    c.add_dropout(0.3);
    c.add_bias();
    std::vector<double> segments;
    for (int i = 0; i < 202; ++i) segments.push_back(i % 101 < 90 ? i / 37 : -1);
    c.add_segments(segments, segments);
    c.forward(32);
    c.h.keep_results();
    auto all = c.h.results(c.o);
    c.backward(32);
    for (auto const& gradient : {c.dq, c.dk, c.dv, c.d_bias})
      std::ranges::copy(c.h.results(gradient), std::back_inserter(all));
    return all;
  };
  auto const alone = bits(1);
  EXPECT_TRUE(std::ranges::all_of(alone, [](double x) { return std::isfinite(x); }));
  for (int const threads : {3, 64}) EXPECT_EQ(bits(threads), alone) << threads;
}

// A step that overflows is known by what it computes: nothing here may make a value finite again.
class AttentionOf : public ::testing::TestWithParam<std::tuple<DType, char const*>> {
 protected:
  AttentionOf() { c.h.graph().arithmetic.isa = std::get<1>(GetParam()); }

  static bool is_finite(std::vector<double> const& values) {
    return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
  }

  AttentionCase c{{.batch = 1,
                   .queries = 37,
                   .keys = 37,
                   .heads = 2,
                   .kv_heads = 1,
                   .head_size = 20,
                   .causal = true,
                   .scale = 0.25},
                  std::get<0>(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Of, AttentionOf,
                         ::testing::Combine(::testing::Values(DType::f32, DType::bf16),
                                            ::testing::Values("", "portable")));

TEST_P(AttentionOf, what_is_not_a_number_shows_in_its_result) {
  for (auto const& input : {c.q, c.k, c.v}) {
    auto const before = c.h.contents(input)[3];
    c.h.set(input, 3, NAN);
    c.forward(32);
    EXPECT_FALSE(is_finite(c.h.results(c.o)));
    c.h.set(input, 3, before);
  }
  c.forward(32);
  EXPECT_TRUE(is_finite(c.h.results(c.o)));
}

TEST_P(AttentionOf, what_is_not_a_number_shows_in_its_gradients) {
  c.forward(32);
  c.h.keep_results();
  auto const is_seen = [&] {
    c.backward(32);
    return !is_finite(c.h.results(c.dq)) || !is_finite(c.h.results(c.dk)) ||
           !is_finite(c.h.results(c.dv));
  };
  EXPECT_FALSE(is_seen());
  int number = 0;
  for (auto const& input : {c.q, c.k, c.v, c.o, c.lse, c.d_o}) {
    auto const before = c.h.contents(input)[3];
    c.h.set(input, 3, NAN);
    EXPECT_TRUE(is_seen()) << "input " << number++;
    c.h.set(input, 3, before);
  }
}

}  // namespace
}  // namespace spillway::kernels_attention_parts_test
