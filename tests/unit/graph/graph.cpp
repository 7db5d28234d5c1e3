#include "graph/graph.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "graph/attention.hpp"
#include "graph/build.hpp"
#include "graph/sharing.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::graph_test {
namespace {

// By counting.
double pairs_seen(AttentionAttributes const& a) {
  double pairs = 0;
  for (std::int64_t i = 0; i < a.queries; ++i)
    for (std::int64_t j = 0; j < a.keys; ++j) {
      bool const near = a.window == 0 || (i - j < a.window && (a.causal || j - i < a.window));
      pairs += near && !(a.causal && j > i);
    }
  return pairs;
}

TEST(Attention, visible_pairs_are_those_that_causal_and_window_leave) {
  for (bool const causal : {false, true})
    for (std::int64_t const window : {0, 1, 2, 12, 13, 14, 50}) {
      AttentionAttributes const a{.queries = 13, .keys = 13, .causal = causal, .window = window};
      EXPECT_EQ(visible_pairs(a), pairs_seen(a)) << causal << ", " << window;
    }
  AttentionAttributes const cross{.queries = 5, .keys = 9};
  EXPECT_EQ(visible_pairs(cross), 45);
}

// As when a step brings some rows to a cache of many: which of these are filled is not known.
TEST(Attention, visible_pairs_of_a_row_of_a_cache_are_its_window_at_most) {
  auto const pairs = [](std::int64_t window) {
    return visible_pairs({.queries = 5, .keys = 9, .causal = true, .window = window});
  };
  EXPECT_EQ(pairs(0), 45);
  EXPECT_EQ(pairs(3), 15);
  EXPECT_EQ(pairs(9), 45);
  EXPECT_EQ(pairs(50), 45);
}

// Sums of the slices that ranks of a copy keep are made by the ranks that keep them, each by one.
TEST(Sharings, part_a_chunk_into_what_each_rank_keeps_and_sums) {
  for (std::int64_t const elements : {1L, 5000L, 24 * kNormTile, 61 * kNormTile + 3}) {
    for (auto const& [ranks, sharers] :
         {std::pair(1, 1), {6, 1}, {6, 2}, {6, 3}, {6, 6}, {8, 4}, {64, 8}}) {
      SCOPED_TRACE(::testing::Message() << elements << " " << ranks << " " << sharers);
      Sharing const sharing{ranks, sharers};
      std::set<std::int64_t> numbers;
      std::int64_t kept = 0;  // by the first copy's ranks
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        auto const number = sharing.summed_number(rank);
        numbers.insert(number);
        EXPECT_EQ(sharing.rank_that_sums(number), rank);
        auto const own = sharing.kept(elements, rank), sum = sharing.summed(elements, rank);
        if (rank < sharers) {
          EXPECT_EQ(own.count == 0 ? kept : own.first, kept);
          kept += own.count;
        }
        auto const inside = sharing.summed_of_kept(elements, rank);
        EXPECT_LE(inside.first + inside.count, sharing.kept(elements, 0).count);
        EXPECT_GE(inside.count, sum.count);
        if (sum.count > 0) {
          EXPECT_EQ(own.first + inside.first, sum.first);
          EXPECT_LE(sum.first + sum.count, own.first + own.count);
        }
        for (auto const& group : {sharing.sharers_of(rank), sharing.keepers_of(rank)}) {
          EXPECT_EQ((rank - group.first) % group.step, 0);
          EXPECT_LT((rank - group.first) / group.step, group.count);
        }
        EXPECT_EQ(sharing.kept(elements, sharing.keepers_of(rank).rank(0)).first, own.first);
      }
      EXPECT_EQ(kept, elements);
      EXPECT_EQ(std::ssize(numbers), ranks);
    }
  }
}

TEST(GradientSlices, are_whole_tiles_and_what_is_left) {
  auto const expect = [](std::int64_t elements, std::int64_t ranks,
                         std::vector<std::pair<std::int64_t, std::int64_t>> const& slices) {
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      auto const [first, count] = gradient_slice(elements, rank, ranks);
      EXPECT_EQ(std::pair(first, count), slices[static_cast<std::size_t>(rank)]) << elements;
    }
  };
  expect(5000, 1, {{0, 5000}});
  expect(3 * 4096, 3, {{0, 4096}, {4096, 4096}, {8192, 4096}});
  expect(3 * 4096 + 1, 3, {{0, 8192}, {8192, 4097}, {12289, 0}});
  expect(4096, 3, {{0, 4096}, {4096, 0}, {4096, 0}});
  expect(8191, 2, {{0, 4096}, {4096, 4095}});
}

// A block that is entered twice has a group for each time.
TEST(BackwardGroups, have_the_backward_ops_of_a_block_that_follow_each_other) {
  Graph graph;
  auto const add = [&](Phase phase, int block) {
    Op op;
    op.id = static_cast<int>(graph.ops.size());
    op.phase = phase;
    op.block = block;
    graph.ops.push_back(op);
  };
  add(Phase::forward, 3), add(Phase::backward, 3), add(Phase::backward, 3);
  add(Phase::backward, 1), add(Phase::norm, 1), add(Phase::backward, 1), add(Phase::backward, 3);
  add(Phase::update, 3);
  auto const groups = backward_groups(graph);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].block, 3);
  EXPECT_EQ(groups[0].ops, (std::vector{1, 2}));
  EXPECT_EQ(groups[1].block, 1);
  EXPECT_EQ(groups[1].ops, (std::vector{3, 5}));
  EXPECT_EQ(groups[2].block, 3);
  EXPECT_EQ(groups[2].ops, std::vector{6});
}

TEST(Builder, what_is_out_of_place_is_named) {
  Graph graph;
  GraphBuilder builder(graph);
  EXPECT_EQ(test::mistake([&] { builder.add_chunk("c"); }),
            "op c: belongs to a block, and none is open");
  EXPECT_EQ(test::mistake([&] { builder.append<OpKind::add>("a", {.a = {}, .b = {}, .c = {}}); }),
            "op a: belongs to a block, and none is open");
  EXPECT_EQ(test::mistake([&] { builder.end_block(); }),
            "op the end of a block: belongs to a block, and none is open");
  builder.begin_block("h.0", true);
  EXPECT_EQ(test::mistake([&] { builder.begin_block("h.1", true); }),
            "op h.1: begins in an open block");
  EXPECT_EQ(test::mistake([&] { builder.finish(); }), "op h.0: is still open");
  builder.end_block();
  EXPECT_EQ(test::mistake([&] { builder.finish(); }), "");
  EXPECT_EQ(builder.add_tensor("x", Role::batch, DType::f32, {1}).tensor, 2);
  EXPECT_EQ(graph.tensors[2].name, "x") << "of no block";
  EXPECT_EQ(graph.tensors[2].block, -1);
}

// Moments and masters of one parameter may take as much as a number of 8 bytes for each element.
TEST(Builder, a_parameter_that_no_machine_holds_is_named) {
  Graph graph;
  GraphBuilder builder(graph);
  builder.begin_block("b", false);
  int const chunk = builder.add_chunk("c");
  auto const add = [&](std::string const& name, std::int64_t elements) {
    return test::refused_with([&] { builder.add_parameter(chunk, name, {elements}, {}, false); });
  };
  EXPECT_EQ(add("too.large", kMostBytes / 8 + 1),
            "model: too.large [1125899906842625] takes more than 8 PiB, which no machine has");
  EXPECT_EQ(add("large", kMostBytes / 8), "");
}

TEST(Graph, counts_parameters_without_padding_and_those_that_are_trained) {
  Graph graph;
  Chunk chunk;
  chunk.parameters.resize(2);
  chunk.parameters[0].view.shape = {5, 7};
  chunk.parameters[1].view.shape = {3};
  chunk.elements = 128;
  graph.chunks = {chunk, chunk, chunk};
  graph.chunks[1].trainable = false;
  EXPECT_EQ(graph.parameter_count(), 3 * 38);
  EXPECT_EQ(graph.trained_parameter_count(), 2 * 38);
}

TEST(Builder, parameters_are_aligned_and_the_gaps_count_as_elements) {
  Graph graph;
  GraphBuilder builder(graph);
  builder.begin_block("b", false);
  int const chunk = builder.add_chunk("c");
  builder.add_parameter(chunk, "p", {3, 5}, {}, false);
  auto const q = builder.add_parameter(chunk, "q", {70}, {}, true);
  builder.end_block();
  builder.finish();
  auto const& c = graph.chunks[0];
  EXPECT_EQ(q.offset, 64);
  EXPECT_EQ(c.elements, 64 + 128);
  EXPECT_EQ(graph.parameter_count(), 15 + 70);
  for (auto const id :
       {c.parameter, c.gradient, c.state("remainder"), c.state("m"), c.state("v")}) {
    EXPECT_EQ(graph.tensors[static_cast<std::size_t>(id)].shape, Shape{192});
  }
}

TEST(Builder, fp32_has_no_remainder_and_eval_has_no_training_state) {
  for (auto const purpose : {Purpose::train, Purpose::eval}) {
    Graph graph;
    graph.purpose = purpose;
    graph.arithmetic.precision = Precision::fp32;
    GraphBuilder builder(graph);
    builder.begin_block("b", false);
    builder.add_parameter(builder.add_chunk("c"), "p", {3}, {}, false);
    builder.end_block();
    builder.finish();
    EXPECT_EQ(graph.chunks[0].state("remainder"), -1);
    EXPECT_EQ(graph.chunks[0].gradient >= 0, purpose == Purpose::train);
    EXPECT_EQ(graph.known.norms >= 0, purpose == Purpose::train);
  }
}

}  // namespace
}  // namespace spillway::graph_test
