#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "train/learning_rate.hpp"

namespace spillway::train_learning_rate_test {
namespace {

OptimConfig optim(Schedule schedule, std::int64_t warmup) {
  OptimConfig result;
  result.lr = 1e-2;
  result.min_lr = 1e-3;
  result.warmup = warmup;
  result.schedule = schedule;
  return result;
}

TEST(LearningRate, rises_linearly_and_reaches_its_peak_at_the_end_of_the_warm_up) {
  for (auto const schedule : {Schedule::cosine, Schedule::linear, Schedule::constant}) {
    auto const config = optim(schedule, 4);
    for (std::int64_t step = 0; step < 4; ++step) {
      EXPECT_DOUBLE_EQ(learning_rate(config, 100, step), 1e-2 * static_cast<double>(step + 1) / 4);
    }
    EXPECT_DOUBLE_EQ(learning_rate(config, 100, 4), 1e-2);
  }
}

TEST(LearningRate, falls_to_its_minimum_at_the_last_step) {
  for (auto const schedule : {Schedule::cosine, Schedule::linear}) {
    auto const config = optim(schedule, 10);
    for (std::int64_t step = 11; step < 101; ++step) {
      EXPECT_LT(learning_rate(config, 101, step), learning_rate(config, 101, step - 1));
    }
    EXPECT_NEAR(learning_rate(config, 101, 100), 1e-3, 1e-15);
    EXPECT_NEAR(learning_rate(config, 101, 500), 1e-3, 1e-15);  // it does not rise again
  }
}

TEST(LearningRate, has_the_schedule_s_value_a_quarter_of_the_way_down) {
  auto const at_quarter = [](Schedule schedule) {
    return learning_rate(optim(schedule, 10), 111, 35);  // 25 of 100 steps after the warm-up
  };
  auto const cosine = 0.5 * (1 + std::cos(std::numbers::pi / 4));
  EXPECT_NEAR(at_quarter(Schedule::cosine), 1e-3 + 9e-3 * cosine, 1e-15);
  EXPECT_NEAR(at_quarter(Schedule::linear), 1e-3 + 9e-3 * 0.75, 1e-15);
  EXPECT_EQ(at_quarter(Schedule::constant), 1e-2);
}

TEST(LearningRate, still_rises_at_the_end_of_a_run_shorter_than_its_warm_up) {
  auto const config = optim(Schedule::cosine, 700);
  for (std::int64_t step = 0; step < 20; ++step) {
    EXPECT_DOUBLE_EQ(learning_rate(config, 20, step), 1e-2 * static_cast<double>(step + 1) / 700);
  }
}

TEST(LearningRate, is_finite_in_the_shortest_runs) {
  EXPECT_DOUBLE_EQ(learning_rate(optim(Schedule::cosine, 0), 1, 0), 1e-2);
  EXPECT_DOUBLE_EQ(learning_rate(optim(Schedule::linear, 1), 1, 0), 1e-2);
  EXPECT_DOUBLE_EQ(learning_rate(optim(Schedule::linear, 1), 2, 1), 1e-2);
}

TEST(LearningRate, of_a_changed_run_is_told_beside_the_one_before) {
  Config before;
  before.optim = {.lr = 1e-3, .min_lr = 1e-4, .warmup = 0};
  before.run.steps = 100;
  auto now = before;
  EXPECT_EQ(changed_rate(before, now, 100), "");
  now.run.eval_batches = 3;
  EXPECT_EQ(changed_rate(before, now, 100), "");
  now.run.steps = 201;
  EXPECT_EQ(changed_rate(before, now, 100),
            "the learning rate of step 101 is 5.50e-04 now, where it was 1.00e-04 as the run was "
            "before: its schedule ends with run.steps; optim.schedule=constant optim.lr=1.00e-04 "
            "goes on at that rate");
  now.optim.lr = 2e-3;
  EXPECT_EQ(changed_rate(before, now, 100),
            "the learning rate of step 101 is 1.05e-03 now, where it was 1.00e-04 as the run was "
            "before");
}

}  // namespace
}  // namespace spillway::train_learning_rate_test
