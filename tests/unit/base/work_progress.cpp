// How far a command has come, in one line.
#include "base/work_progress.hpp"

#include <gtest/gtest.h>

namespace spillway::work_progress_test {
namespace {

TEST(WorkProgress, says_what_is_done_how_fast_and_what_is_left) {
  Work const batches{"eval", "batches", 78};
  EXPECT_EQ(work_line(batches, 0, 0), "eval: 0 of 78 batches");
  EXPECT_EQ(work_line(batches, 8, 4, "loss 3.21"),
            "eval: 8 of 78 batches, 2 batches/s, 35 s left, loss 3.21");
  EXPECT_EQ(work_line({"tokenize", "bytes", 3 << 20}, 1 << 20, 2),
            "tokenize: 1 MiB of 3 MiB, 512 KiB/s, 4 s left");
}

TEST(WorkProgress, says_of_work_without_a_known_end_what_is_done_and_how_fast) {
  Work const plans{"plan", "plans"};
  EXPECT_EQ(work_line(plans, 0, 0, "batch.micro=4"), "plan: 0 plans, batch.micro=4");
  EXPECT_EQ(work_line(plans, 3, 60, "batch.micro=32"),
            "plan: 3 plans, 0.05 plans/s, batch.micro=32");
}

TEST(WorkProgress, is_redrawn_at_once_on_a_terminal_and_now_and_then_in_a_log) {
  WorkPace terminal(true), log(false);
  EXPECT_TRUE(terminal.is_due(0));
  EXPECT_FALSE(terminal.is_due(0.1));
  EXPECT_TRUE(terminal.is_due(0.25));
  EXPECT_FALSE(log.is_due(0));
  EXPECT_FALSE(log.is_due(29.9));
  EXPECT_TRUE(log.is_due(30));
  EXPECT_FALSE(log.is_due(59));
  EXPECT_TRUE(log.is_due(61));
}

TEST(WorkProgress, says_nothing_in_a_log_of_what_takes_a_moment) {
  testing::internal::CaptureStderr();
  {
    WorkProgress progress({"tokenize", "bytes", 10});
    for (int i = 0; i < 10; ++i) progress.add(1);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace spillway::work_progress_test
