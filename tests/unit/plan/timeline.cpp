#include "plan/time/timeline.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace spillway::test::timeline_test {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

Shares cores(double count) {
  return {count, kUnlimited, kUnlimited};
}

TEST(Timeline, lanes_take_jobs_in_order_and_wait_for_others) {
  Timeline timeline;
  int const a = timeline.add(Lane::compute, {2, {}}, {});
  int const b = timeline.add(Lane::host, {3, {}}, std::array{a});
  timeline.add(Lane::compute, {1, {}}, {});
  timeline.add(Lane::compute, {1, {}}, std::array{a, b});
  auto const times = timeline.run(cores(kUnlimited));
  EXPECT_EQ(times[1].start_s, 2);
  EXPECT_EQ(times[2].start_s, 2);
  EXPECT_EQ(times[2].end_s, 3);
  EXPECT_EQ(times[3].start_s, 5);
  EXPECT_EQ(times[3].end_s, 6);
}

// Two cores; compute keeps both busy, the host lane needs one and gets one.
TEST(Timeline, shares_cores_evenly) {
  Timeline timeline;
  timeline.add(Lane::compute, {3, {2, 0, 0}}, {});
  timeline.add(Lane::host, {1, {1, 0, 0}}, {});
  auto const times = timeline.run(cores(2));
  EXPECT_DOUBLE_EQ(times[1].end_s, 1);
  EXPECT_DOUBLE_EQ(times[0].end_s, 3.5);  // 1 s gave half a second's work, 2.5 s are left
}

// The thread that moves bytes needs a fifth of a core and is not slowed down.
TEST(Timeline, who_asks_for_little_gets_it) {
  Timeline timeline;
  timeline.add(Lane::compute, {0.9, {2, 0, 0}}, {});
  timeline.add(Lane::nvme_write, {2, {0.2, 0, 1}}, {});
  auto const times = timeline.run(cores(2));
  EXPECT_DOUBLE_EQ(times[0].end_s, 1);
  EXPECT_DOUBLE_EQ(times[1].end_s, 2);
}

// A drive that writes 4 GB/s and reads 2, and moves 3 while it does both: 1.5 each way.
TEST(Timeline, both_directions_of_a_drive_move_the_same_amount) {
  Timeline timeline;
  timeline.add(Lane::nvme_read, {1, {0, 0, 2}}, {});   // 2 GB
  timeline.add(Lane::nvme_write, {1, {0, 0, 4}}, {});  // 4 GB
  timeline.add(Lane::compute, {1, {2, 1, 0}}, {});     // asks for nothing of it
  auto const times = timeline.run({kUnlimited, kUnlimited, 3});
  EXPECT_DOUBLE_EQ(times[0].end_s, 2 / 1.5);
  EXPECT_DOUBLE_EQ(times[1].end_s, 2 / 1.5 + 0.5);  // the other 2 GB alone
  EXPECT_DOUBLE_EQ(times[2].end_s, 1);
}

TEST(Timeline, transfers_ask_for_their_drive) {
  Machine const machine{.nvme_write_gbps = 4, .nvme_read_gbps = 2, .nvme_both_gbps = 3};
  Timeline timeline;
  auto const add = [&](Lane lane, std::int64_t bytes) {
    timeline.add(lane, copy_cost(bytes, machine, lane), {});
  };
  add(Lane::nvme_read, 1'500'000'000);
  add(Lane::nvme_write, 3'500'000'000);
  auto const times = timeline.run(capacities(machine));
  EXPECT_DOUBLE_EQ(times[0].end_s, 1);
  EXPECT_DOUBLE_EQ(times[1].end_s, 1.5);  // the other 2 GB alone
}

TEST(Timeline, a_job_alone_takes_its_time_whatever_it_asks_for) {
  Timeline timeline;
  timeline.add(Lane::compute, {2, {8, 5, 3}}, {});
  EXPECT_DOUBLE_EQ(timeline.run({2, 1, 1})[0].end_s, 2);
}

TEST(Timeline, jobs_that_take_no_time_are_done_at_once) {
  Timeline timeline;
  int const a = timeline.add(Lane::comm, {}, {});
  int const b = timeline.add(Lane::compute, {}, std::array{a});
  timeline.add(Lane::comm, {1, {}}, std::array{b});
  auto const times = timeline.run(cores(1));
  EXPECT_EQ(times[1].end_s, 0);
  EXPECT_EQ(times[2].end_s, 1);
}

}  // namespace
}  // namespace spillway::test::timeline_test
