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
  return outlook({graph(), nullptr, {}, {kPlenty, 0, 0}, machine(network_gbps), 2, ranks}, shard);
}

std::int64_t all(std::int64_t ChunkCost::*bytes, BlockModel const& model) {
  std::int64_t sum = 0;
  for (ChunkCost const& chunk : model.chunks) sum += chunk.*bytes;
  return sum;
}

BlockModel model_of(Shard shard, std::int64_t ranks) {
  auto model = block_model(graph(), machine(1), {BlockPolicy::keep}, ranks);
  apply(shard, model);
  return model;
}

TEST(Sharding, changes_nothing_for_one_rank) {
  for (Shard const shard : kShards) {
    EXPECT_EQ(of(shard, 1, 1).step_s, of(Shard::none, 1, 1).step_s) << name(shard);
    EXPECT_EQ(of(shard, 1, 1).peak_bytes, of(Shard::none, 1, 1).peak_bytes) << name(shard);
  }
}

TEST(Sharding, leaves_a_rank_its_part) {
  auto const whole = model_of(Shard::none, 4);
  auto const near = [](std::int64_t bytes, std::int64_t expected) {
    EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(expected), 100);
  };
  for (Shard const shard : {Shard::optimizer, Shard::gradients, Shard::all}) {
    SCOPED_TRACE(name(shard));
    auto const part = model_of(shard, 4);
    auto const expect = [&](std::int64_t ChunkCost::*bytes, bool is_shared) {
      near(all(bytes, part), all(bytes, whole) / (is_shared ? 4 : 1));
    };
    expect(&ChunkCost::optimizer_bytes, true);
    expect(&ChunkCost::held_gradient_bytes, shard != Shard::optimizer);
    expect(&ChunkCost::home_bytes, shard == Shard::all);
    expect(&ChunkCost::parameter_bytes, false);
  }
  std::int64_t before = kPlenty;
  for (Shard const shard : kShards) {
    auto const device_bytes = of(shard, 4, 1).peak_bytes[index(Tier::device)];
    EXPECT_LT(device_bytes, before) << name(shard);
    before = device_bytes;
  }
}

// The stages' volumes, section 7 of the paper: as much as plain data parallelism, but once more the
// parameters where these are shared out as well.
TEST(Sharding, sends_what_the_paper_says) {
  constexpr double slow_gbps = 1e-6;  // nothing else counts
  auto const sent = [](Shard shard) { return of(shard, 4, slow_gbps).step_s * slow_gbps * 1e9; };
  auto const whole = model_of(Shard::none, 4);
  auto const gradients = 0.75 * static_cast<double>(all(&ChunkCost::held_gradient_bytes, whole));
  auto const parameters = 0.75 * static_cast<double>(all(&ChunkCost::parameter_bytes, whole));
  double parts = 0;  // of further uses, which every micro-batch sends by themselves
  for (ChunkCost const& chunk : whole.chunks)
    for (PartCost const& part : chunk.parts) parts += 0.75 * static_cast<double>(part.bytes);
  EXPECT_GT(parts, 0);  // the tied embedding's
  auto const near = [](double bytes, double expected) { EXPECT_NEAR(bytes / expected, 1, 1e-3); };
  near(sent(Shard::none), 2 * gradients);
  near(sent(Shard::optimizer), gradients + parameters);
  near(sent(Shard::gradients), 2 * (gradients + parts) + parameters);  // of two micro-batches
  // Forward and backward; the tied embedding, which is at both ends, once more; what the backward
  // pass begins with, once less.
  EXPECT_LT(sent(Shard::all), 2 * (gradients + parts) + 6 * parameters);
  EXPECT_GT(sent(Shard::all), 2 * gradients + 3 * parameters);
}

TEST(Sharding, is_faster_on_a_fast_network_and_slower_on_a_slow_one) {
  EXPECT_LT(of(Shard::optimizer, 4, 1000).step_s, of(Shard::none, 4, 1000).step_s);
  EXPECT_GT(of(Shard::all, 4, 0.1).step_s, 2 * of(Shard::optimizer, 4, 0.1).step_s);
}

}  // namespace
}  // namespace spillway::test::sharding_test
