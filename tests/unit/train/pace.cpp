#include "train/pace.hpp"

#include <gtest/gtest.h>

#include "train/due.hpp"

namespace spillway::pace_test {
namespace {

RunConfig run_of(std::int64_t steps, std::int64_t eval_every, std::int64_t save_every) {
  RunConfig run;
  run.steps = steps;
  run.eval_every = eval_every;
  run.checkpoint.every = save_every;
  return run;
}

// Counts what the loop of a run does after `done` steps.
TEST(TimeLeft, counts_what_is_due) {
  for (std::int64_t const every : {0, 1, 3, 4, 12, 100}) {
    auto const run = run_of(12, every, every);
    for (std::int64_t done = 0; done <= 12; ++done) {
      std::int64_t evaluations = 0, saves = done < 12 ? 1 : 0;  // one checkpoint at the end
      for (auto step = done + 1; step <= 12; ++step) {
        evaluations += evaluation_is_due(run, step) ? 1 : 0;
        saves += save_is_due_by_step(run.checkpoint, step) && step < 12 ? 1 : 0;
      }
      auto const left = time_left(run, done, {2, 3, 5});
      EXPECT_EQ(left.steps, 12 - done);
      EXPECT_EQ(left.evaluations, evaluations) << every << " " << done;
      EXPECT_EQ(left.saves, saves) << every << " " << done;
      EXPECT_EQ(left.seconds(), static_cast<double>(2 * (12 - done) + 3 * evaluations + 5 * saves));
    }
  }
}

TEST(TimeLeft, has_no_evaluations_without_a_validation_set) {
  auto const left = time_left(run_of(12, 3, 0), 0, {2, 0, 5});
  EXPECT_EQ(left.evaluations, 0);
  EXPECT_EQ(left.seconds(), 24 + 5);
}

// A minute is 30 steps.
TEST(TimeLeft, counts_checkpoints_by_time_where_they_come_before_those_by_step) {
  auto run = run_of(301, 0, 0);
  run.checkpoint.minutes = 1;
  EXPECT_EQ(time_left(run, 0, {2, 0, 1}).saves, 10 + 1);
  EXPECT_EQ(time_left(run, 271, {2, 0, 1}).saves, 0 + 1);
  run.checkpoint.every = 100;
  EXPECT_EQ(time_left(run, 0, {2, 0, 1}).saves, 10 + 1);
  run.checkpoint.every = 10;
  EXPECT_EQ(time_left(run, 0, {2, 0, 1}).saves, 30 + 1);
  run.checkpoint.minutes = 0;
  EXPECT_EQ(time_left(run, 0, {2, 0, 1}).saves, 301) << "after each step";
}

TEST(Pace, goes_by_what_was_predicted_until_something_was_measured) {
  Pace pace({2, 3, 5});
  EXPECT_EQ(pace.times().step_s, 2);
  pace.add_step(4);
  EXPECT_EQ(pace.times().step_s, 4);
  pace.add_step(14);
  EXPECT_DOUBLE_EQ(pace.times().step_s, 0.9 * 4 + 0.1 * 14) << "as steps have been lately";
  EXPECT_EQ(pace.times().evaluation_s, 3);
  pace.add_evaluation(6);
  pace.add_evaluation(8);
  EXPECT_EQ(pace.times().evaluation_s, 7);
  EXPECT_EQ(pace.evaluations(), 2);
  EXPECT_EQ(pace.evaluations_s(), 14);
  EXPECT_EQ(pace.times().save_s, 5);
  pace.add_save(9);
  EXPECT_EQ(pace.times().save_s, 9);
  EXPECT_EQ(pace.saves(), 1);
}

// Steps of the plan before tell nothing of those to come. What evaluations and checkpoints have
// taken so far tells more than any prediction.
TEST(Pace, goes_by_what_another_plan_predicts_once_that_has_begun) {
  Pace pace({2, 3, 5});
  pace.add_step(4);
  pace.change_plan({1, 7, 8});
  EXPECT_EQ(pace.predicted().step_s, 1);
  EXPECT_EQ(pace.predicted().evaluation_s, 7);
  EXPECT_EQ(pace.predicted().save_s, 8);
  EXPECT_EQ(pace.times().step_s, 1);
  EXPECT_EQ(pace.times().evaluation_s, 7);
  EXPECT_EQ(pace.times().save_s, 8);
  pace.add_step(2);
  EXPECT_EQ(pace.times().step_s, 2) << "the first of its plan";
  pace.add_evaluation(6);
  pace.add_save(9);
  pace.change_plan({3, 10, 11});
  EXPECT_EQ(pace.times().evaluation_s, 6);
  EXPECT_EQ(pace.times().save_s, 9);
  EXPECT_EQ(pace.predicted().evaluation_s, 10);
  EXPECT_EQ(pace.evaluations(), 1);
}

}  // namespace
}  // namespace spillway::pace_test
