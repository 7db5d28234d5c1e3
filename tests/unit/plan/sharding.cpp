// What sharding over ranks would need, send and take, by estimates.
#include "plan/search/sharding.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/data/open_plan.hpp"
#include "plan/search/alternatives.hpp"
#include "plan/search/estimate.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::sharding_test {
namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

Graph const& graph() {
  static Graph const it = gpt_training_graph({.layers = 4, .sequence = 64, .micro = 1});
  return it;
}

Machine machine(double network_gbps) {
  auto result = small_machine();
  result.network_gbps = network_gbps;
  return result;
}

Outlook of(Shard shard, std::int64_t ranks, double network_gbps) {
  PlanRequest request;
  request.shard = {shard};
  return outlook({graph(), nullptr, request, {kPlenty, 0, 0}, machine(network_gbps), 2, ranks});
}

using Chunks = IdVector<ChunkCost>;

std::int64_t all(std::int64_t ChunkCost::*bytes, Chunks const& chunks) {
  std::int64_t sum = 0;
  for (ChunkCost const& chunk : chunks) sum += chunk.*bytes;
  return sum;
}

Chunks chunks_of(Shard shard, std::int64_t ranks) {
  return block_model(graph(), machine(1), {BlockPolicy::keep}, ranks).shared_by(ranks)[shard];
}

TEST(Sharding, changes_nothing_for_one_rank) {
  for (Shard const shard : kShards) {
    EXPECT_EQ(of(shard, 1, 1).step_s, of(Shard::none, 1, 1).step_s) << word(shard);
    EXPECT_EQ(of(shard, 1, 1).peak_bytes, of(Shard::none, 1, 1).peak_bytes) << word(shard);
  }
}

TEST(Sharding, leaves_a_rank_its_part) {
  auto const whole = chunks_of(Shard::none, 4);
  auto const near = [](std::int64_t bytes, std::int64_t expected) {
    EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(expected), 100);
  };
  for (Shard const shard : {Shard::optimizer, Shard::gradients, Shard::all}) {
    SCOPED_TRACE(word(shard));
    auto const part = chunks_of(shard, 4);
    auto const expect = [&](std::int64_t ChunkCost::*bytes, bool is_shared) {
      near(all(bytes, part), all(bytes, whole) / (is_shared ? 4 : 1));
    };
    auto const slice_bytes = all(&ChunkCost::parameter_bytes, whole) / 4;
    near(all(&ChunkCost::optimizer_bytes, part),
         all(&ChunkCost::optimizer_bytes, whole) / 4 + (shard == Shard::all ? 0 : slice_bytes));
    near(all(&ChunkCost::gradient_slice_bytes, part),
         all(&ChunkCost::held_gradient_bytes, whole) / 4);
    expect(&ChunkCost::home_bytes, shard == Shard::all);
    expect(&ChunkCost::parameter_bytes, false);
  }
  auto const device_bytes = [](Shard shard) {
    return of(shard, 4, 1).peak_bytes[index(Tier::device)];
  };
  EXPECT_LT(device_bytes(Shard::optimizer), device_bytes(Shard::none));
  EXPECT_EQ(device_bytes(Shard::gradients), device_bytes(Shard::optimizer));
  EXPECT_LT(device_bytes(Shard::all), device_bytes(Shard::gradients));
}

// The stages' volumes, section 7 of the paper: as much as plain data parallelism, but once more the
// parameters where these are shared out as well.
TEST(Sharding, sends_what_the_paper_says) {
  constexpr double slow_gbps = 1e-6;  // nothing else counts
  auto const sent = [](Shard shard) { return of(shard, 4, slow_gbps).step_s * slow_gbps * 1e9; };
  auto const whole = chunks_of(Shard::none, 4);
  auto const gradients = 0.75 * static_cast<double>(all(&ChunkCost::held_gradient_bytes, whole));
  auto const parameters = 0.75 * static_cast<double>(all(&ChunkCost::parameter_bytes, whole));
  auto const near = [](double bytes, double expected) { EXPECT_NEAR(bytes / expected, 1, 1e-3); };
  near(sent(Shard::none), 2 * gradients);
  near(sent(Shard::optimizer), gradients + parameters);
  near(sent(Shard::gradients), gradients + parameters);
  // Forward and backward; the tied embedding, which is at both ends, once more; what the backward
  // pass begins with, once less.
  EXPECT_LT(sent(Shard::all), gradients + 6 * parameters);
  EXPECT_GT(sent(Shard::all), gradients + 3 * parameters);
}

// Two nodes of four ranks: parameters stay within a node, and of the sums of gradients what a rank
// keeps comes from the other one.
TEST(Sharding, within_nodes_keeps_more_and_sends_parameters_less_far) {
  auto m = machine(1);
  m.node_ranks = 4;
  auto const model = block_model(graph(), m, {BlockPolicy::keep}, 8, {8, 4});
  for (Shard const shard : {Shard::gradients, Shard::all}) {
    auto const &of_all = model.shared_by(8)[shard], &of_nodes = model.shared_by(4)[shard];
    auto const half = [&](std::int64_t ChunkCost::*bytes) {
      auto const whole = static_cast<double>(all(bytes, of_nodes));
      EXPECT_NEAR(static_cast<double>(all(bytes, of_all)) / whole, 0.5, 1e-3);
    };
    half(&ChunkCost::optimizer_bytes);
    half(&ChunkCost::gradient_slice_bytes);
    for (int c = 0; c < std::ssize(of_nodes); ++c) {
      auto const& chunk = of_nodes[c];
      EXPECT_EQ(chunk.gradient.scatter_sent_bytes, of_all[c].gradient.scatter_sent_bytes);
      EXPECT_EQ(of_all[c].gradient.gather_sent_bytes, 0);
      EXPECT_EQ(chunk.gradient.gather_sent_bytes, chunk.gradient.bytes / 4 / 2);
      EXPECT_EQ(chunk.sharing.sharers_of(0), (RankRange{0, 4, 1}));
      EXPECT_EQ(chunk.sharing.keepers_of(0), (RankRange{0, 2, 4}));
      EXPECT_EQ(chunk.fetch_sent_bytes + chunk.update_sent_bytes, chunk.parameter_bytes * 3 / 4);
    }
  }
}

// Where the network is slow and there is room, each node keeps a copy; where there is none, one is
// kept together.
TEST(Sharding, is_within_nodes_where_that_is_faster_and_fits) {
  constexpr std::int64_t ranks = 8;
  auto m = machine(0.2);
  m.node_ranks = 4;
  m.node_gbps = 100;
  PlanRequest request;
  request.activations = {BlockPlan{BlockPolicy::keep, 1}};
  request.shard = {Shard::all};
  PlanQuestion question{graph(), nullptr, request, {kPlenty, 0, 0}, m, 2, ranks};
  auto const asked = [&](std::optional<ShardRanks> which) {
    auto other = question;
    other.request.shard_ranks = which;
    return solve(other).chosen.value();
  };
  auto const of_nodes = asked(ShardRanks::node), of_all = asked(ShardRanks::all);
  EXPECT_EQ(of_nodes.plan.sharers, 4);
  EXPECT_EQ(of_all.plan.sharers, 0);
  ASSERT_LT(of_nodes.step_s, 0.9 * of_all.step_s);
  EXPECT_EQ(asked({}).plan.sharers, 4);
  EXPECT_LE(asked({}).step_s, of_nodes.step_s);
  EXPECT_NE(to_yaml(asked({}).plan, graph()).find("shard_ranks: node"), std::string::npos);
  auto const device_bytes = [](Solution::Chosen const& chosen) {
    return chosen.compiled.train.peak_bytes[Tier::device];
  };
  ASSERT_LT(device_bytes(of_all), device_bytes(of_nodes));
  question.budgets.device_bytes = (device_bytes(of_all) + device_bytes(of_nodes)) / 2;
  EXPECT_EQ(asked({}).plan.sharers, 0);
}

TEST(Sharding, within_nodes_needs_nodes_that_are_alike) {
  auto m = machine(1);
  m.node_ranks = 4;
  PlanRequest request;
  request.shard_ranks = ShardRanks::node;
  auto const ask = [&](std::int64_t ranks, bool alike) {
    return solve({graph(), nullptr, request, {kPlenty, 0, 0}, m, 2, ranks, {}, alike}).chosen;
  };
  EXPECT_TRUE(ask(8, true));
  EXPECT_TRUE(ask(3, true)) << "on one node";
  EXPECT_THROW(ask(6, true), std::invalid_argument);
  EXPECT_THROW(ask(8, false), std::invalid_argument);
  request.shard = {Shard::all};
  m.node_ranks = 1;
  auto const alone = ask(8, true);
  ASSERT_TRUE(alone) << "each rank is a node";
  EXPECT_EQ(shard_ranks(alone->plan), std::nullopt);
  request = {};
  EXPECT_TRUE(ask(8, false));
}

TEST(Sharding, is_faster_on_a_fast_network_and_slower_on_a_slow_one) {
  EXPECT_LT(of(Shard::optimizer, 4, 1000).step_s, of(Shard::none, 4, 1000).step_s);
  EXPECT_GT(of(Shard::all, 4, 0.01).step_s, 1.5 * of(Shard::optimizer, 4, 0.01).step_s);
}

// Ranks that gather parameters for a micro-batch must all run it.
TEST(Sharding, of_parameters_is_not_chosen_where_ranks_have_unlike_numbers_of_micro_batches) {
  constexpr std::int64_t ranks = 8;
  auto const m = machine(1);
  PlanRequest request;
  request.activations = {BlockPlan{BlockPolicy::keep, 1}};
  request.group = 1;
  PlanQuestion question{graph(), nullptr, request, {kPlenty, 0, 0}, m, 2, ranks};
  auto const needed = [&](Shard shard) {
    auto asked = question;
    asked.request.shard = {shard};
    return solve(asked).chosen->compiled.train.peak_bytes[Tier::device];
  };
  auto const least = needed(Shard::all), more = needed(Shard::gradients);
  ASSERT_GT(more, least);
  question.budgets.device_bytes = least + (more - least) / 4;
  EXPECT_TRUE(solve(question).chosen);
  question.fewer = {1};
  EXPECT_FALSE(solve(question).chosen);
  EXPECT_FALSE(outlook(question).fits);
  question.budgets.device_bytes = more;
  auto const uneven = solve(question);
  ASSERT_TRUE(uneven.chosen);
  for (ChunkPlan const& chunk : uneven.chosen->plan.chunks) EXPECT_NE(chunk.shard, Shard::all);
}

TEST(Sharding, of_parameters_is_refused_with_unlike_numbers_of_micro_batches) {
  auto const why = [](Graph const& train, Shard shard) {
    PlanRequest request;
    request.shard = {shard};
    auto const m = machine(1);
    try {
      solve({train, nullptr, request, {kPlenty, 0, 0}, m, 3, 2, {2}});
    } catch (std::invalid_argument const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(why(graph(), Shard::all),
            "plan.shard: all: ranks meet in every micro-batch, of which batch.share gives them "
            "unlike numbers; give gradients or auto");
  EXPECT_EQ(why(graph(), Shard::gradients), "");
  auto each = graph();
  each.arithmetic.reduction = Reduction::each;
  EXPECT_EQ(why(each, Shard::none),
            "optim.reduction: each: ranks meet in every micro-batch, of which batch.share gives "
            "them unlike numbers; give last");
}

TEST(Sharding, is_compared_within_nodes_where_there_are_several) {
  auto m = machine(1);
  m.node_ranks = 8;
  PlanQuestion question{graph(), nullptr, {}, {kPlenty, 0, 0}, m, 3, 8};
  EXPECT_EQ(shardings(question).size(), kShards.size());
  m.node_ranks = 4;
  EXPECT_EQ(shardings(question).size(), kShards.size() + 2);
  EXPECT_EQ(shardings(question).back().name, "all/node");
  question.request.shard_ranks = ShardRanks::all;
  EXPECT_EQ(shardings(question).size(), kShards.size());
}

TEST(Sharding, is_compared_without_parameters_where_micro_batches_are_unlike) {
  auto const m = machine(1);
  PlanQuestion question{graph(), nullptr, {}, {kPlenty, 0, 0}, m, 3, 2};
  EXPECT_EQ(shardings(question).back().name, "all");
  question.fewer = {2};
  EXPECT_EQ(shardings(question).back().name, "gradients");
}

}  // namespace
}  // namespace spillway::test::sharding_test
