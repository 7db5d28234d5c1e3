// What sharding over ranks would need, send and take, by estimates.
#include "plan/search/sharding.hpp"

#include <gtest/gtest.h>

#include "plan/data/open_plan.hpp"
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
  return block_model(graph(), machine(1), {BlockPolicy::keep}, ranks).shared[shard];
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

TEST(Sharding, is_faster_on_a_fast_network_and_slower_on_a_slow_one) {
  EXPECT_LT(of(Shard::optimizer, 4, 1000).step_s, of(Shard::none, 4, 1000).step_s);
  EXPECT_GT(of(Shard::all, 4, 0.01).step_s, 1.5 * of(Shard::optimizer, 4, 0.01).step_s);
}

}  // namespace
}  // namespace spillway::test::sharding_test
