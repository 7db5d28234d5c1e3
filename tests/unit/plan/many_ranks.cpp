// A search takes no longer for many ranks: it does not look at more.
#include <gtest/gtest.h>

#include "plan/data/machine_file.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"

namespace spillway::test::many_ranks_test {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

// Ranks have two micro-batches each, and too little memory for a whole model of their own.
Solution answer(std::int64_t ranks) {
  static Graph const graph =
      gpt_training_graph({.layers = 16, .hidden = 4096, .heads = 32, .sequence = 2048, .micro = 1});
  static Machine const machine =
      shared_by(load_machine(SPILLWAY_SOURCE_DIR "/input/machines/h100.yaml"), 8);
  return solve({graph, nullptr, {}, {14 * kGib, 60 * kGib, 0}, machine, 2, ranks});
}

// From 512 ranks on nearly all peers are on other nodes, so that the question hardly changes. But a
// search that estimates have misled is asked up to three times.
TEST(ManyRanks, are_planned_for_with_no_more_work_than_few) {
  constexpr int most_searches = 3;
  auto const few = answer(512);
  ASSERT_TRUE(few.chosen);
  ASSERT_GT(few.estimated, 1000) << "so many that shares of them mean something";
  for (std::int64_t const ranks : {4096, 65536}) {
    auto const many = answer(ranks);
    ASSERT_TRUE(many.chosen) << ranks;
    EXPECT_LE(many.estimated, most_searches * few.estimated) << ranks;
    EXPECT_GE(many.estimated, 0.5 * few.estimated) << ranks;
    EXPECT_LE(many.compiled, most_searches * few.compiled) << ranks;
  }
}

}  // namespace
}  // namespace spillway::test::many_ranks_test
