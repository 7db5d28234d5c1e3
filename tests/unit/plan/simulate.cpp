#include "plan/time/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "plan/compile/compile.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "plan/memory/layout.hpp"
#include "plan/proof/derive.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/critical_path.hpp"
#include "plan/time/item_cost.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::simulate_test {
namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;

// One GB/s everywhere: a buffer of n GB takes n seconds.
Machine unit_machine() {
  return {1, 1, 1, 1, 1, 1, 0};
}

void finish(Program& program) {
  link(program);
  Program* programs[] = {&program};
  layout(programs);
  derive_waits(program);
}

TEST(Simulate, overlaps_lanes_and_follows_waits) {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kGigabyte), away = made.buffer(Tier::nvme, kGigabyte);
  auto const b = made.buffer(Tier::device, 4 * kGigabyte);
  auto const c = made.buffer(Tier::device, kGigabyte);
  made.program.buffers[0].spanning = made.program.buffers[2].spanning = true;
  made.item(Lane::compute, {}, {a});
  made.program.items[0].horizon = 4;
  made.item(Lane::nvme_write, {a}, {away});
  made.item(Lane::compute, {}, {b});
  made.item(Lane::nvme_read, {away}, {c});
  made.item(Lane::compute, {c}, {});
  finish(made.program);
  auto const result = simulate(made.program, unit_machine());
  ASSERT_EQ(result.intervals.size(), 5u);
  EXPECT_DOUBLE_EQ(result.step_s, 5);  // the transfers hide behind item 2
  EXPECT_DOUBLE_EQ(result.intervals[1].start_s, result.intervals[0].end_s);
  EXPECT_DOUBLE_EQ(result.intervals[3].start_s, result.intervals[1].end_s);
  EXPECT_DOUBLE_EQ(result.intervals[4].start_s, result.intervals[2].end_s);
  EXPECT_DOUBLE_EQ(result.busy_s[index(Lane::nvme_read)], 1);
  EXPECT_EQ(result.bytes[index(Lane::nvme_write)], kGigabyte);
}

TEST(Simulate, reports_the_steady_state_without_a_barrier_between_steps) {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, 2 * kGigabyte);
  auto const b = made.buffer(Tier::device, kGigabyte), small = made.buffer(Tier::device, 64);
  made.program.buffers[0].versions = 2;
  made.item(Lane::host, {}, {a});
  made.item(Lane::compute, {}, {small});  // what the next load can wait for
  made.item(Lane::compute, {a}, {b});
  finish(made.program);
  // Loading (2 s) goes on while the step before computes (1 s).
  EXPECT_NEAR(simulate(made.program, unit_machine()).step_s, 2, 1e-6);
}

TEST(Simulate, takes_the_longer_of_arithmetic_and_traffic) {
  Graph const graph = gpt_training_graph({.layers = 2, .hidden = 128, .heads = 4, .vocab = 300});
  auto const plan = make_plan(graph, PlanWords{.activations = {"keep"}}, BlockPolicy::keep);
  auto const program = compile(graph, nullptr, plan, 1, 1).train;
  Machine machine{100, 50, 1e9, 0, 0, 0, 0};
  double flops = 0;
  for (Op const& op : graph.ops) flops += op.elided ? 0 : op.flops;
  EXPECT_NEAR(simulate(program, machine).step_s, flops / 100e9, 0.01 * flops / 100e9);
  machine.memory_gbps = 1e-3;
  EXPECT_GT(simulate(program, machine).step_s, 2 * flops / 100e9);
  machine = {0, 0, 0, 0, 0, 0, 1e-6};
  EXPECT_NEAR(simulate(program, machine).busy_s[index(Lane::compute)],
              1e-6 * static_cast<double>(program.items.size() - 2), 1e-9);  // not load, commit
}

TEST(Simulate, a_copy_takes_a_core_unless_a_device_with_its_own_memory_does_it) {
  Machine machine{.memory_gbps = 1, .h2d_gbps = 10, .cores = 4};
  auto const asked = [&](double compute_cores, std::int64_t device_bytes) {
    machine.compute_cores = compute_cores;
    machine.device_bytes = device_bytes;
    auto const demand = copy_cost(1000, machine, Lane::h2d).demand;
    return std::pair(demand[static_cast<std::size_t>(Resource::cores)],
                     demand[static_cast<std::size_t>(Resource::memory)] > 0);
  };
  EXPECT_EQ(asked(2, 0), std::pair(1.0, true));
  EXPECT_EQ(asked(1, 1), std::pair(0.0, false)) << "the thread that launches has its core";
}

TEST(Simulate, an_op_on_the_host_lane_asks_for_a_core_a_thread) {
  Graph const graph = gpt_training_graph({.layers = 1, .hidden = 128, .heads = 4, .vocab = 300});
  auto const adamw = std::ranges::find(graph.ops, OpKind::adamw, &Op::kind);
  ASSERT_NE(adamw, graph.ops.end());
  Machine machine{.memory_gbps = 1};
  machine.cores = 4;
  machine.compute_cores = 2;
  auto const asked = [&](Lane lane, double host_cores) {
    machine.host_cores = host_cores;
    auto const demand = op_cost(*adamw, graph.tensors, machine, lane).demand;
    return demand[static_cast<std::size_t>(Resource::cores)];
  };
  EXPECT_EQ(asked(Lane::host, 0), 1) << "where none is named there is one";
  EXPECT_EQ(asked(Lane::host, 3), 3);
  EXPECT_EQ(asked(Lane::host, 7), 4) << "of all there are";
  EXPECT_EQ(asked(Lane::compute, 3), 2);
}

TEST(Simulate, counts_every_micro_batch) {
  Graph const graph = gpt_training_graph({.layers = 3, .hidden = 128, .heads = 4, .vocab = 300});
  auto const plan = make_plan(graph, PlanWords{.activations = {"nvme"}}, BlockPolicy::keep);
  auto const spilled = [&](int micro_batches) {
    auto const program = compile(graph, nullptr, plan, micro_batches, 1).train;
    return simulate(program, unit_machine()).bytes[index(Lane::nvme_write)];
  };
  EXPECT_GT(spilled(1), 0);
  EXPECT_EQ(spilled(5), 5 * spilled(1));
}

// Every lane's seconds and bytes, and those of the path, whichever intervals stand for others. Of
// each item's times some 1e-9 may be off, which adds up in what a lane is busy.
void expect_alike(Simulation const& few, Simulation const& all, Program const& program,
                  double close_s) {
  EXPECT_NEAR(few.step_s, all.step_s, close_s);
  EXPECT_EQ(few.bytes, all.bytes);
  auto const sum_s = 1e-9 * static_cast<double>(program.items.size()) * all.step_s;
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    EXPECT_NEAR(few.busy_s[lane], all.busy_s[lane], std::max(close_s, sum_s));
  std::int64_t items = 0;
  for (auto const& interval : few.intervals) items += interval.times;
  EXPECT_EQ(items, std::ssize(all.intervals));
  double path_s = 0;
  for (auto const& part : critical_path(program, few)) path_s += part.seconds();
  EXPECT_NEAR(path_s, few.step_s, close_s);
}

TEST(Simulate, of_many_micro_batches_a_few_stand_for_all) {
  std::mt19937 draws(5);
  int left_out = 0, exact = 0;
  for (int i = 0; i < 25; ++i) {
    Graph const graph = gpt_training_graph(random_shape(draws));
    auto const micro_batches = 70 + below(draws, 60);
    auto plan = random_plan(graph, draws);
    plan.group = 1;  // else too few groups remain to leave any out
    auto const program = compile(graph, nullptr, plan, micro_batches, 1 + below(draws, 3)).train;
    auto const all =
        simulate(program, machine_with_slow_links(), std::numeric_limits<std::int64_t>::max());
    auto const few = simulate(program, machine_with_slow_links(), 0);
    EXPECT_EQ(all.repeat.times, 0);
    left_out += few.intervals.size() < all.intervals.size() ? 1 : 0;
    bool const is_exact = std::abs(few.step_s - all.step_s) <= 1e-9 * all.step_s;
    exact += is_exact ? 1 : 0;
    expect_alike(few, all, program, (is_exact ? 1e-9 : 1e-4) * all.step_s);
  }
  EXPECT_EQ(left_out, 25);
  EXPECT_GE(exact, 21) << "of the others no few micro-batches repeat each other";
}

// Where one micro-batch is like the next, a few are walked, and one of them stands for the rest.
TEST(Simulate, finds_that_micro_batches_repeat) {
  Graph const graph = gpt_training_graph({.layers = 2, .hidden = 64, .heads = 4, .vocab = 300});
  auto const plan = make_plan(graph, {}, BlockPolicy::keep);
  auto const program = compile(graph, nullptr, plan, 1000, 1).train;
  auto const few = simulate(program, unit_machine(), 0);
  EXPECT_GT(few.repeat.times, 980);
  EXPECT_LT(std::ssize(few.intervals), 20 * std::ssize(program.items));
}

TEST(Simulate, walks_no_more_for_a_million_micro_batches_than_for_some) {
  Graph const graph = gpt_training_graph({.layers = 2, .hidden = 64, .heads = 4, .vocab = 300});
  auto const plan = make_plan(graph, PlanWords{.activations = {"nvme"}}, BlockPolicy::keep);
  auto const simulated = [&](std::int64_t micro_batches) {
    return simulate(compile(graph, nullptr, plan, micro_batches, 1).train,
                    machine_with_slow_links());
  };
  auto const some = simulated(10'000), many = simulated(1'000'000);
  EXPECT_EQ(many.intervals.size(), some.intervals.size());
  EXPECT_LT(std::ssize(many.intervals), kWalkedItems);
  EXPECT_NEAR(many.step_s / some.step_s, 100, 1);
  EXPECT_EQ(simulated(1000).repeat.times, 0);  // walked whole
}

// Reads 2 GB, then computes for a second with them.
HandMade read_and_compute() {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, 2 * kGigabyte);
  auto const b = made.buffer(Tier::device, kGigabyte);
  auto const read = made.item(Lane::nvme_read, {}, {a});
  made.item(Lane::compute, {a}, {b});
  made.program.items.back().waits = {read};
  return made;
}

// The read of a step is under way as the step before ends.
TEST(Simulate, counts_the_intervals_of_a_step_from_the_end_of_the_one_before) {
  auto const result = simulate(read_and_compute().program, unit_machine());
  EXPECT_EQ(result.step_s, 2);
  ASSERT_EQ(result.intervals.size(), 2u);
  EXPECT_EQ(result.intervals[0].start_s, -1);
  EXPECT_EQ(result.intervals[0].end_s, 1);
  EXPECT_EQ(result.intervals[1].start_s, 1);
  EXPECT_EQ(result.intervals[1].end_s, 2);
}

// Such as a move: no other step hides a part of it.
TEST(Simulate, of_a_program_that_runs_once_takes_all_its_time) {
  auto made = read_and_compute();
  made.program.once = true;
  auto const result = simulate(made.program, unit_machine());
  EXPECT_EQ(result.step_s, 3);
  ASSERT_EQ(result.intervals.size(), 2u);
  EXPECT_EQ(result.intervals[0].start_s, 0);
  EXPECT_EQ(result.intervals[1].start_s, 2);
  EXPECT_EQ(result.intervals[1].end_s, 3);
  EXPECT_EQ(result.busy_s[Lane::nvme_read], 2);
  EXPECT_EQ(result.bytes[Lane::nvme_read], 2 * kGigabyte);
}

// A hundred micro-batches of a second each: eight of those in the middle are walked, and the fifth
// of them stands for the ninety that are left out.
TEST(Simulate, says_what_which_micro_batch_stands_for) {
  HandMade made(100);
  for (auto const* name : {"first", "middle", "last"}) {
    made.segment(name);
    made.item(Lane::compute, {}, {made.buffer(Tier::device, kGigabyte)});
  }
  auto const few = simulate(made.program, unit_machine(), 0);
  EXPECT_EQ(few.step_s, 100);
  EXPECT_EQ(few.repeat.begin_s, 5);
  EXPECT_EQ(few.repeat.period_s, 1);
  EXPECT_EQ(few.repeat.times, 90);
  std::vector<std::int64_t> times;
  for (auto const& interval : few.intervals) times.push_back(interval.times);
  EXPECT_EQ(times, (std::vector<std::int64_t>{1, 1, 1, 1, 1, 91, 1, 1, 1, 1}));
  EXPECT_EQ(few.busy_s[Lane::compute], 100);
  EXPECT_EQ(few.bytes[Lane::compute], 100 * kGigabyte);
}

}  // namespace
}  // namespace spillway::test::simulate_test
