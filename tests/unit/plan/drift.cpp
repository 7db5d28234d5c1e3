// Whether a machine is what a plan assumed, and whether another plan pays.
#include "plan/move/drift.hpp"

#include <gtest/gtest.h>

#include "plan/compile/compile.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::drift_test {
namespace {

constexpr auto kWrite = index(Lane::nvme_write), kRead = index(Lane::nvme_read);
constexpr auto kCompute = index(Lane::compute), kHost = index(Lane::host);

Machine machine() {
  Machine machine;
  machine.nvme_write_gbps = 2;
  machine.nvme_read_gbps = 3;
  machine.nvme_both_gbps = 4;
  machine.matmul_gflops_f32 = 100;
  machine.op_s = {{"matmul", 0.1}, {"host adamw", 0.2}};
  machine.kind_giga_per_s = {{"gelu", 10}};
  return machine;
}

// A second of computing a step, beside it 1 GB written and 1.5 GB read in half a second each.
Simulation planned() {
  Simulation simulation;
  simulation.step_s = 1;
  simulation.busy_s[kCompute] = 1;
  simulation.busy_s[kWrite] = simulation.busy_s[kRead] = 0.5;
  simulation.bytes[kWrite] = 1'000'000'000;
  simulation.bytes[kRead] = 1'500'000'000;
  return simulation;
}

// Four steps as planned.
Measured as_planned() {
  Measured measured{4, 1, {}, {}};
  auto const plan = planned();
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    measured.busy_s[lane] = 4 * plan.busy_s[lane];
    measured.bytes[lane] = 4 * plan.bytes[lane];
  }
  return measured;
}

TEST(Drift, is_a_quarter_more_or_less) {
  EXPECT_FALSE(has_drifted(1, 1.2));
  EXPECT_FALSE(has_drifted(1, 0.85));
  EXPECT_TRUE(has_drifted(1, 1.3));
  EXPECT_TRUE(has_drifted(1, 0.75));
  EXPECT_FALSE(has_drifted(0, 1));  // nobody knew
}

TEST(Drift, is_not_found_where_lanes_do_as_planned) {
  auto measured = as_planned();
  measured.step_s = 2;  // for reasons of its own
  EXPECT_FALSE(find_drift(machine(), planned(), measured));
}

TEST(Drift, of_the_drive_changes_its_rates_and_nothing_else) {
  auto measured = as_planned();
  measured.step_s = 5;
  measured.busy_s[kWrite] *= 8;
  auto const drift = find_drift(machine(), planned(), measured);
  ASSERT_TRUE(drift);
  EXPECT_EQ(drift->why, "the drive writes at 0.25 GB/s instead of 2");
  EXPECT_DOUBLE_EQ(drift->machine.nvme_write_gbps, 0.25);
  EXPECT_DOUBLE_EQ(drift->machine.nvme_read_gbps, 3);
  EXPECT_DOUBLE_EQ(drift->machine.nvme_both_gbps, 4 / 4.5);
  EXPECT_EQ(drift->machine.op_s, machine().op_s);
}

// Fewer bytes in as much time is as slow as the same in more.
TEST(Drift, of_the_drive_is_by_the_byte) {
  auto measured = as_planned();
  measured.step_s = 5;
  measured.bytes[kRead] /= 4;
  auto const drift = find_drift(machine(), planned(), measured);
  ASSERT_TRUE(drift);
  EXPECT_DOUBLE_EQ(drift->machine.nvme_read_gbps, 0.75);
}

TEST(Drift, of_a_drive_that_is_only_read_holds_for_writes_too) {
  auto plan = planned();
  plan.bytes[kWrite] = 0;
  plan.busy_s[kWrite] = 0;
  auto measured = as_planned();
  measured.bytes[kWrite] = 0;
  measured.busy_s[kWrite] = 0;
  measured.step_s = 5;
  measured.busy_s[kRead] *= 10;
  auto const drift = find_drift(machine(), plan, measured);
  ASSERT_TRUE(drift);
  EXPECT_DOUBLE_EQ(drift->machine.nvme_write_gbps, 0.2);
  EXPECT_DOUBLE_EQ(drift->machine.nvme_read_gbps, 0.3);
}

TEST(Drift, of_a_busy_machine_slows_ops_on_both_lanes) {
  auto measured = as_planned();
  measured.step_s = 2;
  measured.busy_s[kCompute] *= 2;
  auto const drift = find_drift(machine(), planned(), measured);
  ASSERT_TRUE(drift);
  EXPECT_EQ(drift->why, "computing takes 2 s a step instead of 1 s");
  EXPECT_DOUBLE_EQ(drift->machine.op_s.at("matmul"), 0.2);
  EXPECT_DOUBLE_EQ(drift->machine.op_s.at("host adamw"), 0.4);
  EXPECT_DOUBLE_EQ(drift->machine.matmul_gflops_f32, 50);
  EXPECT_DOUBLE_EQ(drift->machine.kind_giga_per_s.at("gelu"), 5);
  EXPECT_DOUBLE_EQ(drift->machine.nvme_write_gbps, 2);
}

TEST(Drift, does_not_listen_to_lanes_that_do_next_to_nothing) {
  auto plan = planned();
  plan.busy_s[kHost] = 1e-4;
  auto measured = as_planned();
  measured.step_s = 2;
  measured.busy_s[kHost] = 4e-2;
  EXPECT_FALSE(find_drift(machine(), plan, measured));
}

// A program was planned for a drive of 50 GB/s, as fast as the memory that it shares, and ran with
// one of 0.02 GB/s.
class Fitting : public testing::Test {
 protected:
  Fitting() {
    Graph const graph = gpt_training_graph({.layers = 3, .hidden = 64, .heads = 4, .vocab = 300});
    auto const plan = make_plan(graph, PlanWords{.activations = {"nvme"}}, BlockPolicy::keep);
    m_program = compile(graph, nullptr, plan, 2, 1).train;
  }

  // The seconds are the overhead of each item, as planned and as it really was.
  void run_with_overheads(double planned_s, double real_s) {
    auto assumed = small_machine_with_drive(50), slow = small_machine_with_drive(0.02);
    assumed.item_overhead_s = planned_s;
    slow.item_overhead_s = real_s;
    auto const planned = simulate(m_program, assumed), seen = simulate(m_program, slow);
    Measured const measured{1, seen.step_s, seen.busy_s, seen.bytes};
    m_assumed = assumed;
    m_seen_s = seen.step_s;
    m_plain = find_drift(assumed, planned, measured);
    m_fit = fit_machine(m_program, assumed, planned, measured);
    ASSERT_TRUE(m_plain && m_fit);
  }

  Program m_program;
  Machine m_assumed;
  double m_seen_s = 0;
  std::optional<Drift> m_plain;
  std::optional<Fit> m_fit;
};

// Little of what was planned is the drive's own time.
TEST_F(Fitting, goes_on_until_the_program_takes_what_was_measured) {
  ASSERT_NO_FATAL_FAILURE(run_with_overheads(2e-5, 2e-5));
  EXPECT_TRUE(has_drifted(simulate(m_program, m_plain->machine).step_s, m_seen_s));
  EXPECT_EQ(m_fit->drift.why, m_plain->why);
  EXPECT_FALSE(has_drifted(m_fit->simulation.step_s, m_seen_s)) << m_fit->simulation.step_s;
  EXPECT_NEAR(m_fit->drift.machine.nvme_write_gbps, 0.02, 0.005);
  EXPECT_NEAR(m_fit->drift.machine.nvme_read_gbps, 0.02, 0.005);
  EXPECT_EQ(m_fit->simulation.step_s, simulate(m_program, m_fit->drift.machine).step_s);
}

// Computing was planned to take longer than it does, by overhead that no rate shortens.
TEST_F(Fitting, does_not_make_a_lane_faster_again_and_again) {
  ASSERT_NO_FATAL_FAILURE(run_with_overheads(1e-3, 0));
  EXPECT_GT(m_plain->machine.matmul_gflops_bf16, m_assumed.matmul_gflops_bf16);
  EXPECT_EQ(m_fit->drift.machine.matmul_gflops_bf16, m_plain->machine.matmul_gflops_bf16);
  EXPECT_LT(m_fit->drift.machine.nvme_write_gbps, m_plain->machine.nvme_write_gbps);
}

TEST(Drift, counts_the_slowest_rank_of_each_lane) {
  auto a = as_planned(), b = as_planned();
  a.busy_s[kWrite] *= 3;
  b.busy_s[kCompute] *= 2;
  b.step_s = 2;
  auto const all = slowest(std::array{a, b});
  EXPECT_EQ(all.step_s, 2);
  EXPECT_EQ(all.busy_s[kWrite], a.busy_s[kWrite]);
  EXPECT_EQ(all.busy_s[kCompute], b.busy_s[kCompute]);
}

TEST(Change, pays_where_it_gains_more_than_the_move_costs) {
  EXPECT_TRUE(pays({2, 1, 4, 10}));
  EXPECT_FALSE(pays({2, 1, 6, 10}));
  EXPECT_FALSE(pays({2, 1, 4, 5}));
  EXPECT_FALSE(pays({1, 0.95, 0, 1000}));  // simulations are not that exact
  EXPECT_FALSE(pays({1, 1, 0, 1000}));
  EXPECT_FALSE(pays({2, 1, 0, 0}));
}

TEST(Change, is_not_looked_for_where_the_search_takes_longer) {
  auto seen = as_planned();  // which computes all the time
  EXPECT_TRUE(is_worth_a_search(seen, 41, 10));
  EXPECT_FALSE(is_worth_a_search(seen, 39, 10));
  seen.busy_s[kCompute] /= 5;  // and waits for four fifths of it
  EXPECT_TRUE(is_worth_a_search(seen, 26, 10));
  EXPECT_FALSE(is_worth_a_search(seen, 24, 10));
}

}  // namespace
}  // namespace spillway::test::drift_test
