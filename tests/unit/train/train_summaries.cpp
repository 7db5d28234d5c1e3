// What a run makes at its end of what its ranks have measured, and of times.
#include <gtest/gtest.h>

#include "tests/support/hand_made_run.hpp"
#include "tests/support/small_machine.hpp"
#include "train/save_time.hpp"
#include "train/summarize.hpp"
#include "train/told_times.hpp"

namespace spillway::test::train_summaries_test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST(Waits, are_summed_and_name_the_first_of_the_slowest_peers) {
  auto const wait = wait_of(std::array{1.5, 0.0, 4.0, 2.5, 4.0});
  EXPECT_EQ(wait.waited_s, 12);
  EXPECT_EQ(wait.most_for, 2);
  EXPECT_EQ(wait.for_it_s, 4);
  auto const none = wait_of(std::array{0.0, 0.0});
  EXPECT_EQ(none.waited_s, 0);
  EXPECT_EQ(none.most_for, -1);
  EXPECT_EQ(none.for_it_s, 0);
}

// Item 1 is no op; the others are of two kinds, and one of them occurs several times.
TEST(PredictedOpSeconds, are_summed_by_kind_over_all_times_that_an_item_occurs) {
  HandMadeRun run;
  run.segment("all");
  auto const a = run.buffer(Tier::device, 8), b = run.buffer(Tier::host, 8);
  run.op(Lane::compute, {}, {a});
  run.copy(Lane::d2h, a, b);
  run.op(Lane::compute, {a}, {});
  run.op(Lane::host, {b}, {});
  run.program.ops[0].kind = run.program.ops[2].kind = OpKind::matmul;
  run.program.ops[1].kind = OpKind::adamw;
  Simulation simulation;
  simulation.intervals = {{0, 1, 1.5}, {1, 2, 9}, {2, 3, 7, 5}, {3, 8, 8.25, 3}};
  auto expected = std::array<double, kOpKinds>{};
  expected[static_cast<std::size_t>(OpKind::matmul)] = 0.5 + 3 * 0.25;
  expected[static_cast<std::size_t>(OpKind::adamw)] = 5 * 4;
  EXPECT_EQ(predicted_op_seconds(run.program, simulation), expected);
}

TEST(SlowDriveTold, takes_as_long_as_one_is_simulated_to_take) {
  HandMadeRun run;
  run.segment("all");
  auto const a = run.buffer(Tier::device, 800), b = run.buffer(Tier::nvme, 800),
             c = run.buffer(Tier::device, 800);
  run.op(Lane::compute, {}, {a});
  run.copy(Lane::nvme_write, a, b);
  run.copy(Lane::nvme_read, b, c);
  run.complete();
  auto machine = small_machine_with_drive(1);
  StepResult before;
  before.loss_sum = 3;
  before.step_s = 7;
  before.lanes.use[index(Lane::h2d)] = {1, 2, 3};
  before.lanes.use[index(Lane::nvme_read)].stall_s = 4;
  auto const told = told_of_slow_drive(before, run.program, machine);
  auto const quick = simulate(run.program, machine);
  machine.nvme_read_gbps = machine.nvme_write_gbps = 1e-5;
  auto const slow = simulate(run.program, machine);
  EXPECT_EQ(told.loss_sum, 3);
  EXPECT_EQ(told.step_s, slow.step_s);
  EXPECT_GT(told.step_s, 10 * quick.step_s);
  for (Lane const lane : kLanesInOrder)
    EXPECT_EQ(told.lanes.use[index(lane)], (LaneUse{slow.busy_s[lane], 0, slow.bytes[lane]}));
  EXPECT_EQ(told.lanes.use[index(Lane::nvme_write)].bytes, 800);
}

// What was written first is read while the second is written, so their common rate counts, too.
TEST(SlowDriveTold, is_slow_in_both_directions_together) {
  HandMadeRun run;
  run.segment("all");
  auto const a = run.buffer(Tier::device, 800), b = run.buffer(Tier::nvme, 800),
             c = run.buffer(Tier::device, 800), d = run.buffer(Tier::device, 800),
             e = run.buffer(Tier::nvme, 800);
  run.op(Lane::compute, {}, {a});
  run.op(Lane::compute, {}, {d});
  run.copy(Lane::nvme_write, a, b);
  run.copy(Lane::nvme_write, d, e);
  run.copy(Lane::nvme_read, b, c);
  run.op(Lane::compute, {c, d}, {});
  run.complete();
  auto machine = small_machine_with_drive(1);
  machine.nvme_both_gbps = 1;
  auto const told = told_of_slow_drive({}, run.program, machine);
  machine.nvme_read_gbps = machine.nvme_write_gbps = 1e-5;
  auto const alone = simulate(run.program, machine);
  machine.nvme_both_gbps = 1e-5;
  auto const together = simulate(run.program, machine);
  EXPECT_EQ(told.step_s, together.step_s);
  EXPECT_GT(together.step_s, 1.2 * alone.step_s) << "or it would not show";
}

// Each rank is the largest in something, and no number is like another.
TEST(NumbersOfRanks, are_the_largest_peaks_and_the_sums_of_what_was_moved) {
  RankNumbers const one{.measured = {11, 32, 13},
                        .outside_bytes = 24,
                        .peak_rss_bytes = 15,
                        .device_outside_bytes = 26,
                        .pinning = Pinning{17, 0.5},
                        .written_bytes = 100,
                        .read_bytes = 2000,
                        .write_s = 0.25,
                        .read_s = 8};
  RankNumbers const two{.measured = {31, 12, 33},
                        .outside_bytes = 14,
                        .peak_rss_bytes = 25,
                        .device_outside_bytes = 16,
                        .pinning = Pinning{27, 0.75},
                        .written_bytes = 400,
                        .read_bytes = 5000,
                        .write_s = 2,
                        .read_s = 16};
  for (auto const& ranks : {std::array{one, two}, std::array{two, one}}) {
    auto const all = over_ranks(ranks);
    EXPECT_EQ(all.measured, (TierBytes{31, 32, 33}));
    EXPECT_EQ(all.outside_bytes, 24);
    EXPECT_EQ(all.peak_rss_bytes, 25);
    EXPECT_EQ(all.device_outside_bytes, 26);
    ASSERT_TRUE(all.pinning);
    EXPECT_EQ(all.pinning->bytes, 27);
    EXPECT_EQ(all.pinning->seconds, 0.75);
    EXPECT_EQ(all.written_bytes, 500);
    EXPECT_EQ(all.read_bytes, 7000);
    EXPECT_EQ(all.write_s, 2.25);
    EXPECT_EQ(all.read_s, 24);
  }
}

TEST(NumbersOfRanks, without_a_device_have_nothing_pinned_and_nothing_beside_it) {
  auto const none = over_ranks(std::array{RankNumbers{.outside_bytes = 5}, RankNumbers{}});
  EXPECT_EQ(none.outside_bytes, 5);
  EXPECT_FALSE(none.device_outside_bytes);
  EXPECT_FALSE(none.pinning);
}

// Of the ranks' seconds together: that is what one of them got.
TEST(SpillReports, have_bytes_and_rates_of_their_own_direction) {
  auto const report = spill_report(
      {.written_bytes = 3'000'000'000, .read_bytes = 10'000'000'000, .write_s = 2, .read_s = 4});
  EXPECT_EQ(report.written_bytes, 3'000'000'000);
  EXPECT_EQ(report.read_bytes, 10'000'000'000);
  EXPECT_DOUBLE_EQ(report.write_gbps, 1.5);
  EXPECT_DOUBLE_EQ(report.read_gbps, 2.5);
  auto const none = spill_report({});
  EXPECT_EQ(none.write_gbps, 0);
  EXPECT_EQ(none.read_gbps, 0);
}

// 42 flops for the 3 rows of a micro-batch: of 10 sequences, 2 ranks have 5 each.
TEST(StepFlops, are_those_of_ops_that_run_and_of_rows_that_are_filled) {
  Graph graph;
  graph.ops.resize(3);
  graph.ops[0].flops = 40;
  graph.ops[1].flops = 2;
  graph.ops[2].flops = 1000;
  graph.ops[2].elided = true;
  EXPECT_DOUBLE_EQ(step_flops(graph, {.sequences = 10, .micro = 3, .rank = 1, .ranks = 2}), 70);
  EXPECT_DOUBLE_EQ(step_flops(graph, {.sequences = 3, .micro = 3}), 42);
}

TEST(SaveEstimates, say_what_they_go_by) {
  EXPECT_EQ(describe(SaveEstimate{3 * kMiB, 1.5, true}),
            "\nA checkpoint of 3 MiB takes about 2.1 ms: an estimate at 1.5 GB/s, the rate of\n"
            "the drive for spill files.\n");
  EXPECT_EQ(describe(SaveEstimate{3 * kMiB, 0.5, false}),
            "\nA checkpoint of 3 MiB takes about 6.29 ms: an estimate at 0.5 GB/s, a guess.\n");
}

// The master and what AdamW keeps of it; a remainder is a part of the master.
TEST(SaveEstimates, count_values_as_memory_holds_them) {
  Graph graph;
  graph.tensors.resize(4);
  graph.tensors[0].dtype = DType::bf16;  // parameters
  graph.tensors[1].dtype = DType::bf16;  // m
  graph.tensors[2].dtype = DType::f32;   // v
  graph.tensors[3].dtype = DType::i16;   // the remainder
  Chunk chunk;
  chunk.parameters.resize(2);
  chunk.parameters[0].view.shape = {5, 7};
  chunk.parameters[1].view.shape = {3};
  chunk.parameter = 0;
  chunk.states = {{"m", 1}, {"v", 2}, {"remainder", 3}};
  graph.chunks = {chunk, chunk};
  graph.chunks[1].states.resize(2);
  auto const guess = estimate_save(graph, false, {}, 1);
  EXPECT_EQ(guess.bytes, 38 * (2 + 2 + 4 + 2) + 38 * (2 + 2 + 4));
  EXPECT_EQ(guess.gbps, 0.5);
  EXPECT_FALSE(guess.is_measured);
  EXPECT_DOUBLE_EQ(guess.seconds(), 684 / 0.5e9);
  graph.chunks[1].trainable = false;
  graph.chunks[1].states.clear();
  EXPECT_EQ(estimate_save(graph, false, {}, 1).bytes, 38 * (2 + 2 + 4 + 2) + 38 * 2);
  EXPECT_EQ(estimate_save(graph, true, {}, 1).bytes, 38 * (2 + 2 + 4 + 2));
}

// What is measured is what one rank gets while the others of its node write too.
TEST(SaveEstimates, go_by_what_the_ranks_of_a_node_write_together) {
  Machine const machine{.nvme_write_gbps = 4, .nvme_read_gbps = 8, .node_ranks = 3};
  auto const estimate_gbps = [&](std::int64_t ranks) {
    auto const estimate = estimate_save({}, false, machine, ranks);
    EXPECT_TRUE(estimate.is_measured);
    return estimate.gbps;
  };
  EXPECT_EQ(estimate_gbps(1), 4);
  EXPECT_EQ(estimate_gbps(2), 8);
  EXPECT_EQ(estimate_gbps(3), 12);
  EXPECT_EQ(estimate_gbps(6), 12) << "a second node";
  EXPECT_EQ(estimate_save({}, false, {.node_ranks = 3}, 3).gbps, 0.5) << "a guess";
}

}  // namespace
}  // namespace spillway::test::train_summaries_test
