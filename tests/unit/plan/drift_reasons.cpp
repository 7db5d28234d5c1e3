// What is said of each lane that drifts, and which rates follow it.
#include <gtest/gtest.h>

#include "plan/move/drift.hpp"

namespace spillway::test::drift_reasons_test {
namespace {

Machine machine() {
  Machine machine{.matmul_gflops_bf16 = 101,
                  .matmul_gflops_f32 = 102,
                  .memory_gbps = 103,
                  .nvme_write_gbps = 104,
                  .nvme_read_gbps = 105,
                  .network_gbps = 106,
                  .item_overhead_s = 107,
                  .nvme_both_gbps = 108,
                  .h2d_gbps = 109,
                  .d2h_gbps = 110,
                  .node_gbps = 111};
  machine.op_s = {{"matmul", 2}, {"host adamw", 3}};
  machine.kind_giga_per_s = {{"gelu", 4}, {"host gelu", 5}};
  return machine;
}

// Every lane is busy for a second of ten, and moves another number of bytes.
Simulation planned() {
  Simulation simulation;
  simulation.step_s = 10;
  for (Lane const lane : kLanesInOrder) {
    simulation.busy_s[lane] = 1;
    simulation.bytes[lane] = 1'000'000'000 * (1 + static_cast<std::int64_t>(lane));
  }
  return simulation;
}

Measured measured(std::int64_t steps, PerLane<double> const& factors, double step_s) {
  Measured result{steps, step_s, {}, {}};
  auto const plan = planned();
  for (Lane const lane : kLanesInOrder) {
    result.busy_s[lane] = static_cast<double>(steps) * plan.busy_s[lane] * factors[lane];
    result.bytes[lane] = steps * plan.bytes[lane];
  }
  return result;
}

constexpr PerLane<double> kSlower = {2, 4, 5, 8, 10, 20, 16};

TEST(DriftReasons, name_every_lane_that_took_longer) {
  auto const drift = find_drift(machine(), planned(), measured(3, kSlower, 30));
  ASSERT_TRUE(drift);
  EXPECT_EQ(
      drift->why,
      "the drive writes at 0.5 GB/s instead of 5, the drive reads at 0.5 GB/s instead of 4, "
      "copies to the device run at 0.5 GB/s instead of 2, copies from the device run at 0.6 "
      "GB/s instead of 3, computing takes 2 s a step instead of 1 s, the host lane takes 16 s a "
      "step instead of 1 s");
  auto const& now = drift->machine;
  EXPECT_DOUBLE_EQ(now.nvme_write_gbps, 10.4);
  EXPECT_DOUBLE_EQ(now.nvme_read_gbps, 105 / 8.0);
  EXPECT_DOUBLE_EQ(now.nvme_both_gbps, 12);
  EXPECT_DOUBLE_EQ(now.h2d_gbps, 109 / 4.0);
  EXPECT_DOUBLE_EQ(now.d2h_gbps, 22);
  EXPECT_DOUBLE_EQ(now.matmul_gflops_bf16, 101 / 2.0);
  EXPECT_DOUBLE_EQ(now.matmul_gflops_f32, 51);
  EXPECT_DOUBLE_EQ(now.memory_gbps, 103 / 2.0);
  EXPECT_EQ(now.op_s, (Numbers{{"matmul", 4}, {"host adamw", 48}}));
  EXPECT_EQ(now.kind_giga_per_s, (Numbers{{"gelu", 2}, {"host gelu", 5 / 16.0}}));
  EXPECT_EQ(now.network_gbps, 106) << "what ranks wait for each other says nothing of it";
  EXPECT_EQ(now.node_gbps, 111);
  EXPECT_EQ(now.item_overhead_s, 107);
}

TEST(DriftReasons, name_the_rates_of_fast_links_in_whole_numbers) {
  auto plan = planned();
  auto seen = measured(1, {1, 4, 1, 1, 1, 1, 1}, 30);
  plan.bytes[Lane::h2d] = seen.bytes[Lane::h2d] = 480'000'000'000;
  auto const drift = find_drift(machine(), plan, seen);
  ASSERT_TRUE(drift);
  EXPECT_EQ(drift->why, "copies to the device run at 120 GB/s instead of 480");
}

TEST(DriftReasons, are_those_in_the_direction_of_the_step) {
  PerLane<double> const factors = {0.5, 1, 1, 1, 3, 1, 1};
  auto const slower = find_drift(machine(), planned(), measured(2, factors, 20));
  ASSERT_TRUE(slower);
  EXPECT_EQ(slower->why, "the drive writes at 1.7 GB/s instead of 5");
  auto const faster = find_drift(machine(), planned(), measured(2, factors, 5));
  ASSERT_TRUE(faster);
  EXPECT_EQ(faster->why, "computing takes 500 ms a step instead of 1 s");
  EXPECT_DOUBLE_EQ(faster->machine.memory_gbps, 206);
  EXPECT_DOUBLE_EQ(faster->machine.nvme_write_gbps, 104 / 3.0) << "what else was seen holds too";
}

// One direction of a link that is hardly used is as much slower as the other, but never faster.
TEST(DriftReasons, hold_for_the_counterpart_of_a_lane) {
  auto plan = planned();
  for (Lane const unused : {Lane::h2d, Lane::nvme_write, Lane::host}) plan.busy_s[unused] = 0;
  auto const find = [&](PerLane<double> factors, double step_s) {
    for (Lane const unused : {Lane::h2d, Lane::nvme_write, Lane::host}) factors[unused] = 0;
    return find_drift(machine(), plan, measured(2, factors, step_s)).value_or(Drift{}).machine;
  };
  auto const slower = find({2, 0, 5, 8, 0, 1, 0}, 20);
  EXPECT_DOUBLE_EQ(slower.h2d_gbps, 109 / 5.0);
  EXPECT_DOUBLE_EQ(slower.d2h_gbps, 22);
  EXPECT_DOUBLE_EQ(slower.nvme_write_gbps, 13);
  EXPECT_DOUBLE_EQ(slower.op_s.at("host adamw"), 6);
  auto const faster = find({0.5, 0, 0.5, 0.5, 0, 1, 0}, 5);
  EXPECT_DOUBLE_EQ(faster.h2d_gbps, 109);
  EXPECT_DOUBLE_EQ(faster.d2h_gbps, 220);
  EXPECT_DOUBLE_EQ(faster.nvme_write_gbps, 104);
  EXPECT_DOUBLE_EQ(faster.nvme_both_gbps, 108 / 0.75);
  EXPECT_DOUBLE_EQ(faster.op_s.at("host adamw"), 3);
}

// Plans take the rate of memory for a link's; once it was seen, the link has one of its own.
TEST(DriftReasons, give_a_link_that_nobody_knew_its_rate) {
  auto assumed = machine();
  assumed.h2d_gbps = assumed.d2h_gbps = 0;
  auto const drift = find_drift(assumed, planned(), measured(1, {1, 4, 1, 1, 1, 1, 1}, 30));
  ASSERT_TRUE(drift);
  EXPECT_DOUBLE_EQ(drift->machine.h2d_gbps, 103 / 4.0);
  EXPECT_DOUBLE_EQ(drift->machine.d2h_gbps, 103);
  auto plan = planned();
  plan.busy_s[Lane::h2d] = plan.busy_s[Lane::d2h] = 0;
  auto const other = find_drift(assumed, plan, measured(1, {3, 0, 0, 1, 1, 1, 1}, 30));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->machine.h2d_gbps, 0) << "nobody knows more than before";
  EXPECT_EQ(other->machine.d2h_gbps, 0);
}

// A lane counts that is busy for a twentieth of a step, be it planned or seen.
TEST(DriftReasons, are_given_for_lanes_that_are_busy_for_a_twentieth) {
  auto plan = planned();
  plan.busy_s[Lane::host] = 0.1;
  auto const find = [&](double host_s) {
    auto seen = measured(2, {1, 1, 1, 1, 1, 1, 1}, 20);
    seen.busy_s[Lane::host] = 2 * host_s;
    return find_drift(machine(), plan, seen).has_value();
  };
  EXPECT_FALSE(find(0.9));
  EXPECT_TRUE(find(1.1));
}

TEST(SlowestMeasured, has_the_slowest_byte_of_links_and_the_longest_work) {
  Measured a{5, 3, {1, 2, 3, 4, 5, 6, 7}, {10, 20, 30, 40, 50, 60, 70}};
  Measured b{5, 4, {2, 1, 6, 3, 6, 5, 8}, {11, 5, 99, 10, 70, 61, 71}};
  auto const all = slowest(std::array{a, b});
  EXPECT_EQ(all.steps, 5);
  EXPECT_EQ(all.step_s, 4);
  EXPECT_EQ(all.busy_s, (PerLane<double>{2, 1, 3, 3, 5, 6, 8}));
  EXPECT_EQ(all.bytes, (PerLane<std::int64_t>{11, 5, 30, 10, 50, 60, 71}));
  EXPECT_EQ(slowest(std::array{b, a}).busy_s, all.busy_s);
}

// A lane may be used by one rank alone.
TEST(SlowestMeasured, has_a_lane_of_the_only_rank_that_uses_it) {
  Measured const none{5, 3, {1, 0, 0, 0, 0, 0, 0}, {}};
  Measured const one{5, 3, {1, 0, 0, 0, 3, 0, 2}, {0, 0, 0, 0, 7, 0, 0}};
  for (auto const& all : {slowest(std::array{none, one}), slowest(std::array{one, none})}) {
    EXPECT_EQ(all.busy_s, one.busy_s);
    EXPECT_EQ(all.bytes, one.bytes);
  }
}

TEST(Change, pays_from_a_tenth_of_a_step_and_above_twice_the_move) {
  EXPECT_TRUE(pays({10, 9, 4.9, 10}));
  EXPECT_FALSE(pays({10, 9.1, 0, 1000}));
  EXPECT_FALSE(pays({10, 9, 5, 10})) << "no more than twice the move";
  EXPECT_FALSE(pays({10, 11, 0, 1000}));
}

}  // namespace
}  // namespace spillway::test::drift_reasons_test
