// Ranks with unlike numbers of micro-batches exchange the same things in the same order.
#include "plan/proof/alike.hpp"

#include <gtest/gtest.h>

#include "plan/data/open_plan.hpp"
#include "plan/schedule/schedule.hpp"
#include "tests/support/family_case.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::alike_test {
namespace {

constexpr int kRanks = 3;
std::vector<std::int64_t> const kShare = {7, 2, 1};  // ranks then exchange in one order

// Draws a plan with which ranks may have unlike numbers of micro-batches.
Plan uneven_plan(Graph const& graph, Random& draws) {
  auto plan = random_plan(graph, draws);
  for (ChunkPlan& chunk : plan.chunks)
    if (chunk.shard == Shard::all) chunk.shard = Shard::gradients;
  plan.group = 1 + below(draws, 4);
  return plan;
}

TEST(Exchanges, are_alike_whatever_numbers_of_micro_batches_ranks_have) {
  int exchanges = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random draws(seed);
    auto graph = gpt_training_graph(random_shape(draws));
    graph.arithmetic.share = kShare;
    auto const plan = uneven_plan(graph, draws);
    auto const longest = schedule(graph, plan, 7, kRanks);
    exchanges += static_cast<int>(std::ranges::count(longest.items, Lane::comm, &Item::lane));
    for (int const micro_batches : {1, 2, 3, 6})
      EXPECT_EQ(unlike_exchanges(longest, schedule(graph, plan, micro_batches, kRanks)),
                std::nullopt)
          << "seed " << seed << ", " << micro_batches << " micro-batches, plan\n"
          << to_yaml(plan, graph);
  }
  EXPECT_GT(exchanges, 60);
}

TEST(Exchanges, are_alike_for_models_of_all_families) {
  for (auto const& family : family_cases()) {
    Random draws(7);
    auto graph = tiny_training_graph(family.config, kRanks);
    graph.arithmetic.share = kShare;
    for (int drawn = 0; drawn < 5; ++drawn) {
      auto const plan = uneven_plan(graph, draws);
      for (int const micro_batches : {1, 2, 3})
        EXPECT_EQ(unlike_exchanges(schedule(graph, plan, 4, kRanks),
                                   schedule(graph, plan, micro_batches, kRanks)),
                  std::nullopt)
            << family.name << ", " << micro_batches << " micro-batches, plan\n"
            << to_yaml(plan, graph);
    }
  }
}

Program of(Shard shard, int micro_batches, Reduction reduction = Reduction::last) {
  auto graph = gpt_training_graph({.layers = 2, .hidden = 32, .heads = 2, .vocab = 300});
  graph.arithmetic.reduction = reduction;
  PlanRequest request;
  request.shard = {shard};
  return schedule(graph, make_plan(graph, request), micro_batches, kRanks);
}

TEST(Exchanges, differ_where_ranks_meet_in_every_micro_batch) {
  auto const alike = [](Program const& one, Program const& other) {
    return !unlike_exchanges(one, other);
  };
  using enum Shard;
  EXPECT_TRUE(alike(of(gradients, 3), of(gradients, 2)));
  EXPECT_FALSE(alike(of(gradients, 3), of(none, 3)));
  EXPECT_FALSE(alike(of(all, 3), of(all, 2)));
  EXPECT_TRUE(alike(of(none, 3, Reduction::each), of(none, 3, Reduction::each)));
  EXPECT_FALSE(alike(of(none, 3, Reduction::each), of(none, 2, Reduction::each)));
}

TEST(Exchanges, differ_where_two_have_changed_places) {
  auto const sound = of(Shard::none, 2);
  auto damaged = sound;
  std::vector<ItemNumber> sums;
  for (Item const& item : sound.items)
    if (item.kind == ItemKind::all_to_all) sums.push_back(item.number);
  ASSERT_GE(sums.size(), 2u);
  std::swap(damaged.items[sums[0]].operands, damaged.items[sums[1]].operands);
  EXPECT_NE(unlike_exchanges(sound, damaged), std::nullopt);
  EXPECT_THROW(require_alike_exchanges(sound, damaged), std::logic_error);
}

}  // namespace
}  // namespace spillway::test::alike_test
