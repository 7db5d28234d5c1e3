#include "train/predicted_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/hand_made_run.hpp"

namespace spillway::test::predicted_step_test {
namespace {

constexpr auto kMatmul = index(WorkPart::matmul_forward);
constexpr auto kOther = index(WorkPart::other_ops);

// Items 0, 2 and 3 compute; 2 waits for the copy 1.
HandMadeRun run_with_a_copy() {
  HandMadeRun run;
  run.segment("all");
  auto const a = run.buffer(Tier::device, 8), b = run.buffer(Tier::host, 8),
             c = run.buffer(Tier::device, 8);
  run.op(Lane::compute, {}, {a});
  run.copy(Lane::h2d, b, c);
  run.op(Lane::compute, {c}, {a});
  run.op(Lane::compute, {a}, {});
  run.program.ops[0].kind = run.program.ops[1].kind = OpKind::matmul;
  run.program.ops[2].kind = OpKind::rope;
  run.complete();
  return run;
}

TEST(PredictedStep, says_what_computes_and_what_it_waits_for) {
  auto const run = run_with_a_copy();
  Simulation simulation;
  simulation.step_s = 11;
  simulation.intervals = {{0, 0, 2}, {1, 1, 5}, {2, 5, 8}, {3, 8, 11}};
  auto const times = predicted_step(run.program, simulation);
  EXPECT_EQ(times.work_s[kMatmul], 2 + 3);
  EXPECT_EQ(times.work_s[kOther], 3);
  EXPECT_EQ(times.waits_s[index(Lane::h2d)], 3);
  EXPECT_EQ(std::accumulate(times.waits_s.begin(), times.waits_s.end(), 0.0), 3);
  EXPECT_EQ(times.whole_s, 11);
  EXPECT_EQ(times.other_s(), 0);
}

// Time 0 is when all lanes have ended the step before; the compute lane did so 2 seconds earlier.
TEST(PredictedStep, counts_what_compute_waits_for_before_all_have_ended_the_last_step) {
  HandMadeRun run;
  run.segment("all");
  auto const a = run.buffer(Tier::host, 8), b = run.buffer(Tier::device, 8);
  run.copy(Lane::h2d, a, b);
  run.op(Lane::compute, {b}, {});
  run.complete();
  Simulation simulation;
  simulation.step_s = 10;
  simulation.intervals = {{0, -3, -0.5}, {1, -0.5, 8}};
  auto const times = predicted_step(run.program, simulation);
  EXPECT_EQ(times.waits_s[index(Lane::h2d)], 1.5);
  EXPECT_EQ(times.other_s(), 0);
}

// Item 2 waits for both copies, of which that of the drive ends last.
TEST(PredictedStep, counts_a_wait_for_the_lane_that_ends_last) {
  HandMadeRun run;
  run.segment("all");
  auto const a = run.buffer(Tier::host, 8), b = run.buffer(Tier::device, 8),
             c = run.buffer(Tier::nvme, 8), d = run.buffer(Tier::device, 8);
  run.copy(Lane::h2d, a, b);
  run.copy(Lane::nvme_read, c, d);
  run.op(Lane::compute, {b, d}, {});
  run.complete();
  for (double const drive_s : {2.0, 6.0}) {
    Simulation simulation;
    simulation.step_s = 10;
    simulation.intervals = {{0, 0, 4}, {1, 0, drive_s}, {2, std::max(4.0, drive_s), 10}};
    auto const times = predicted_step(run.program, simulation);
    EXPECT_EQ(times.waits_s[index(Lane::h2d)], drive_s < 4 ? 4 : 0);
    EXPECT_EQ(times.waits_s[index(Lane::nvme_read)], drive_s < 4 ? 0 : drive_s);
  }
}

TEST(PredictedStep, counts_every_time_that_an_item_occurs) {
  auto const run = run_with_a_copy();
  Simulation simulation;
  simulation.step_s = 11;
  simulation.intervals = {{0, 0, 2}, {1, 1, 5, 4}, {2, 5, 8, 4}, {3, 8, 11}};
  auto const times = predicted_step(run.program, simulation);
  EXPECT_EQ(times.work_s[kMatmul], 2 + 4 * 3);
  EXPECT_EQ(times.waits_s[index(Lane::h2d)], 4 * 3);
}

}  // namespace
}  // namespace spillway::test::predicted_step_test
